"""Traces in foreign formats: DOT (`dot`) and ShiViz logs (`shiviz`)."""
