//! Nothing: the bench is in benches/.
