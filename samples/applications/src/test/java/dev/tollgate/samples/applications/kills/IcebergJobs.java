package dev.tollgate.samples.applications.kills;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.sql.DataSource;
import org.apache.iceberg.CatalogProperties;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Files;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.jdbc.JdbcCatalog;
import org.apache.iceberg.types.Types;

/**
 * Writers of one table of Iceberg, whose current version is a row of its JDBC catalog. A job is a
 * partition with one file. Several clients may do the same job, and Iceberg refuses all but the
 * first of them as long as no commit overwrites another.
 */
final class IcebergJobs implements Framework {
  private static final TableIdentifier TABLE = TableIdentifier.of("kills", "effects");
  private static final int THREADS = 2;
  private static final int POLL_MILLIS = 20;

  private static final Schema SCHEMA =
      new Schema(Types.NestedField.required(1, "job", Types.IntegerType.get()));

  @Override
  public Promise promise() {
    return Promise.AT_LEAST_ONCE;
  }

  /** Nobody owns a job, so a client that dies needs not be noticed. */
  @Override
  public Duration detection() {
    return Duration.ZERO;
  }

  @Override
  public void prepare(DataSource database) throws SQLException {
    Inbox.create(database);
    JdbcCatalog catalog = catalog(database);
    catalog.createNamespace(Namespace.of("kills"), Map.of());
    catalog
        .buildTable(TABLE, SCHEMA)
        .withPartitionSpec(PartitionSpec.builderFor(SCHEMA).identity("job").build())
        .withProperty(TableProperties.COMMIT_NUM_RETRIES, "100")
        .withProperty(TableProperties.COMMIT_MIN_RETRY_WAIT_MS, "10")
        .withProperty(TableProperties.COMMIT_MAX_RETRY_WAIT_MS, "200")
        .create();
  }

  private static JdbcCatalog catalog(DataSource database) {
    try {
      String url = database.unwrap(HikariDataSource.class).getJdbcUrl();
      Path warehouse = Path.of("target", "iceberg", url.replaceAll("[^0-9]+", "-"));
      JdbcCatalog catalog = new JdbcCatalog();
      catalog.initialize(
          "kills",
          Map.of(
              CatalogProperties.URI,
              url,
              CatalogProperties.WAREHOUSE_LOCATION,
              warehouse.toAbsolutePath().toString(),
              CatalogProperties.FILE_IO_IMPL,
              LocalFiles.class.getName()));
      return catalog;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Submitter submitter(DataSource database) {
    return job -> Inbox.submit(database, job);
  }

  @Override
  public void work(DataSource database, String client, Ledger ledger) {
    ScheduledExecutorService executor = Executors.newScheduledThreadPool(THREADS);
    for (int i = 0; i < THREADS; i++) {
      Table table = catalog(database).loadTable(TABLE);
      executor.scheduleWithFixedDelay(
          () -> workAgain(database, table, ledger), 0, POLL_MILLIS, MILLISECONDS);
    }
  }

  private static void workAgain(DataSource database, Table table, Ledger ledger) {
    try {
      OptionalInt next = anyJob(database);
      if (next.isPresent()) {
        work(database, table, ledger, next.getAsInt());
      }
    } catch (SQLException | RuntimeException e) {
      System.err.println("a job is tried again: " + e);
    }
  }

  private static void work(DataSource database, Table table, Ledger ledger, int job)
      throws SQLException {
    ledger.begin(job);
    try {
      table.newReplacePartitions().addFile(file(table, job)).validateAppendOnly().commit();
    } catch (ValidationException e) {
      System.err.println("a client has done the job: " + e.getMessage());
    }
    ledger.writeOnce(job);
    try (Connection connection = database.getConnection();
        PreparedStatement delete = connection.prepareStatement("DELETE FROM INBOX WHERE JOB = ?")) {
      delete.setInt(1, job);
      delete.executeUpdate();
    }
  }

  private static OptionalInt anyJob(DataSource database) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT JOB FROM (SELECT JOB FROM INBOX ORDER BY JOB LIMIT 6) ORDER BY RAND() LIMIT"
                    + " 1")) {
      return row.next() ? OptionalInt.of(row.getInt(1)) : OptionalInt.empty();
    }
  }

  /** The table's metadata say that there is such a file; nobody reads it. */
  private static DataFile file(Table table, int job) {
    return DataFiles.builder(table.spec())
        .withPath(table.location() + "/data/job-" + job + ".parquet")
        .withFormat(FileFormat.PARQUET)
        .withPartitionPath("job=" + job)
        .withRecordCount(1)
        .withFileSizeInBytes(1)
        .build();
  }

  @Override
  public List<Integer> effects(DataSource database) throws IOException {
    List<Integer> jobs = new ArrayList<>();
    try (CloseableIterable<FileScanTask> files =
        catalog(database).loadTable(TABLE).newScan().planFiles()) {
      files.forEach(file -> jobs.add(file.partition().get(0, Integer.class)));
    }
    return jobs;
  }

  @Override
  public String remainder() {
    return Inbox.ROWS;
  }

  /** Files of this machine, without Hadoop. */
  public static final class LocalFiles implements FileIO {
    @Override
    public InputFile newInputFile(String path) {
      return Files.localInput(path);
    }

    @Override
    public OutputFile newOutputFile(String path) {
      return Files.localOutput(path);
    }

    @Override
    public void deleteFile(String path) {
      try {
        java.nio.file.Files.deleteIfExists(Path.of(path));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
