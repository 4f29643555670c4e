//! A table as DataFusion reads it: its columns, and the number of every row.

use std::sync::Arc;

use async_trait::async_trait;
use consilience::Result;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::TableType;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::Expr;
use datafusion::object_store::path::Path;
use datafusion::parquet::arrow::RowNumber;
use datafusion::physical_plan::ExecutionPlan;

use crate::fault::{system, within};
use crate::table::{Table, is_text};

/// The chosen columns of a table, in the order of the files, then how many rows lie before each
/// file, then the number of each row in its file.
#[derive(Debug)]
pub(crate) struct Scan {
    files: Vec<PartitionedFile>,
    schema: TableSchema,
    first: String,
    row: String,
}

impl Scan {
    pub(crate) fn new(table: &Table) -> Result<Self> {
        // All columns of the files are in the schema; those that no query names are not read.
        let fields: Vec<_> = table.schema().fields().iter().map(|field| queried(field)).collect();
        let free = |name: &str| {
            let mut name = name.to_owned();
            while fields.iter().any(|field| *field.name() == name) {
                name.push('_');
            }
            name
        };
        let (first, row) = (free("consilience_first"), free("consilience_row"));
        let number = |name: &str| Field::new(name, DataType::Int64, false);
        let schema = TableSchema::builder(Arc::new(Schema::new(fields)))
            .with_table_partition_cols(vec![Arc::new(number(&first))])
            .with_virtual_columns(vec![Arc::new(number(&row).with_extension_type(RowNumber))])
            .build();
        let mut files = Vec::with_capacity(table.n_files());
        for file in table.files() {
            let place = within(file.path.display());
            let full = std::path::absolute(&file.path).map_err(system).map_err(&place)?;
            let location = Path::from_absolute_path(full)
                .map_err(|error| place(consilience::Error::invalid(error.to_string())))?;
            let mut listed = PartitionedFile::new("", file.bytes)
                .with_partition_values(vec![ScalarValue::Int64(Some(file.first as i64))]);
            listed.object_meta.location = location;
            files.push(listed);
        }
        Ok(Scan { files, schema, first, row })
    }

    /// The column that tells how many rows lie before the file.
    pub(crate) fn first(&self) -> &str {
        &self.first
    }

    /// The column that tells the number of the row in its file.
    pub(crate) fn row(&self) -> &str {
        &self.row
    }
}

/// Text in views: what grouping is fastest with.
fn queried(field: &Field) -> Arc<Field> {
    Arc::new(match field.data_type() {
        kind if is_text(kind) => field.clone().with_data_type(DataType::Utf8View),
        _ => field.clone(),
    })
}

#[async_trait]
impl TableProvider for Scan {
    fn schema(&self) -> SchemaRef {
        self.schema.table_schema().clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        let source = ParquetSource::new(self.schema.clone());
        let groups =
            FileGroup::new(self.files.clone()).split_files(state.config().target_partitions());
        let config =
            FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), Arc::new(source))
                .with_file_groups(groups)
                .with_projection_indices(projection.cloned())?
                .with_limit(limit)
                .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
