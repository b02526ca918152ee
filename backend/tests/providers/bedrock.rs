//! Converse, asked with a key. Signatures and other credentials are tried with the whole program.

mod answers;
mod failures;
mod requests;
