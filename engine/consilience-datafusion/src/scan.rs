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
use datafusion::parquet::arrow::RowNumber;
use datafusion::physical_plan::ExecutionPlan;
use object_store::ObjectStore;
use object_store::path::Path;

use crate::fault::{query, within};
use crate::location::Location;
use crate::table::{Table, is_text};

/// The chosen columns of a table, in the order of the files, then how many rows lie before each
/// file, then the number of each row in its file.
#[derive(Debug)]
pub(crate) struct Scan {
    files: Vec<PartitionedFile>,
    store: Option<(ObjectStoreUrl, Arc<dyn ObjectStore>)>,
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
            let location = match &file.place {
                Location::Object(object) => object.key().clone(),
                local => Path::from_absolute_path(local.absolute()?).map_err(|error| {
                    within(local)(consilience::Error::invalid(error.to_string()))
                })?,
            };
            let mut listed = PartitionedFile::new("", file.bytes)
                .with_partition_values(vec![ScalarValue::Int64(Some(file.first as i64))]);
            listed.object_meta.location = location;
            files.push(listed);
        }
        let store = match &table.files()[0].place {
            Location::Path(_) => None,
            Location::Object(object) => {
                let url = ObjectStoreUrl::parse(format!("s3://{}", object.bucket()));
                Some((url.map_err(query)?, object.store()))
            }
        };
        Ok(Scan { files, store, schema, first, row })
    }

    /// The object store that the files lie in, unless it is the file system.
    pub(crate) fn store(&self) -> Option<(&ObjectStoreUrl, Arc<dyn ObjectStore>)> {
        self.store.as_ref().map(|(url, store)| (url, store.clone()))
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
    let field = match field.data_type() {
        kind if is_text(kind) => field.clone().with_data_type(DataType::Utf8View),
        _ => field.clone(),
    };
    // Another file of the table may have nulls.
    Arc::new(field.with_nullable(true))
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
        let local = ObjectStoreUrl::local_filesystem;
        let url = self.store().map_or_else(local, |(url, _)| url.clone());
        let config = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_file_groups(groups)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
