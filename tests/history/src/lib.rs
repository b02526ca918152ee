//! Checks what acknowledgements, model calls and rows say of a run.
