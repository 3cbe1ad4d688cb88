"""Fine-tune and run models (torch); for now only the door."""
