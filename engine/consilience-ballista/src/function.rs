//! The function that executors know: it does the task that it is given.

use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use consilience_datafusion::remote::{Resources, perform};
use datafusion::arrow::array::{Array, AsArray, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

const NAME: &str = "consilience_perform";

/// `consilience_perform(task)`.
#[derive(Debug)]
struct Perform {
    signature: Signature,
    resources: Resources,
}

impl PartialEq for Perform {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Perform {}

impl Hash for Perform {
    fn hash<H: Hasher>(&self, state: &mut H) {
        NAME.hash(state);
    }
}

/// The function, with what one task may take. Who only plans may leave that as it is.
pub(crate) fn perform_task(resources: Resources) -> Arc<ScalarUDF> {
    let signature = Signature::exact(vec![DataType::Binary], Volatility::Volatile);
    Arc::new(ScalarUDF::from(Perform { signature, resources }))
}

impl ScalarUDFImpl for Perform {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let tasks = ColumnarValue::values_to_arrays(&args.args)?;
        let tasks = tasks[0].as_binary::<i32>();
        for task in tasks.iter().flatten() {
            self.apart(task)?;
        }
        let done = BooleanArray::from(vec![true; tasks.len()]);
        Ok(ColumnarValue::Array(Arc::new(done)))
    }
}

impl Perform {
    /// In a thread of its own: the work starts a runtime, which one inside of another may not.
    fn apart(&self, task: &[u8]) -> Result<()> {
        let done =
            std::thread::scope(|scope| scope.spawn(|| perform(task, &self.resources)).join());
        match done {
            Ok(done) => done.map_err(|error| DataFusionError::External(Box::new(error))),
            Err(panic) => Err(DataFusionError::Execution(told(&*panic))),
        }
    }
}

fn told(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("a task panicked: {}", text.unwrap_or("without a word"))
}
