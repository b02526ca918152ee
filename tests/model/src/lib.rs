//! A model server that answers as a test tells it to, and remembers who asked.
