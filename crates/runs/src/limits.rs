//! How large the files of a folder may be, for whoever writes them and whoever reads them.

/// A text file that is read whole: a spec, a request, a result, a record.
pub const TEXT_BYTES_MAX: u64 = 64 << 20;
/// A log of lines that is read whole.
pub const LOG_BYTES_MAX: u64 = 2 << 30;
/// A line of a log; what stands after the last line break of a larger file is not one of ours.
pub const LINE_BYTES_MAX: u64 = 16 << 20;
/// A network.
pub const NETWORK_BYTES_MAX: u64 = 64 << 20;
/// The file of an instance.
pub const INSTANCE_BYTES_MAX: u64 = 16 << 20;
/// More streams than anybody runs.
pub const STREAMS_MAX: u32 = 65_536;
/// More threads than any machine has.
pub const THREADS_MAX: u32 = 1024;
