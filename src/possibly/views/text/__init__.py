"""Reports as text: for a person (`report`) and for a program (`json_report`)."""
