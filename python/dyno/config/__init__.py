"""What users write: settings, presets, units, rates; read strictly."""
