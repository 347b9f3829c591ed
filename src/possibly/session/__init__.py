"""Where the parts meet, so that every view behaves alike."""
