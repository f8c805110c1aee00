//! Runs operators inside timely: the only code that knows both.

mod chain_driver;
mod job_instance;
mod operator_driver;
mod ports;
mod report;
mod source_driver;

pub(crate) use chain_driver::ChainDriver;
pub(crate) use job_instance::{JobInstance, PendingSnapshot, RestoreState};
pub(crate) use operator_driver::{
    OperatorDriver, OperatorParts, RowInput, WatermarkInput, guarded,
};
pub(crate) use ports::{Puller, connect, ignore_progress, send};
pub(crate) use report::{Failure, Report};
pub(crate) use source_driver::SourceDriver;
