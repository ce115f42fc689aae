package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.SystemTable;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queries that definitions end, one definition after the other. */
@Timeout(60)
class EndedQueriesTest {
  private static final String QUERY = "SELECT TOLLGATE.HOLDS_LOCK('job', 1)";

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();
  private final ExecutorService threads = Executors.newSingleThreadExecutor();
  private final AtomicInteger runs = new AtomicInteger();

  @AfterEach
  void close() {
    threads.shutdownNow();
    replica.close();
  }

  /** Keeps a query busy until a definition ends it, the first times that it runs. */
  private final class Busy implements LockAccess {
    private final int times;
    private final Runnable ended;
    private volatile BooleanSupplier ends = () -> false;

    Busy(int times, Runnable ended) {
      this.times = times;
      this.ended = ended;
    }

    @Override
    public LockAccess until(BooleanSupplier queryEnds) {
      ends = queryEnds;
      return this;
    }

    @Override
    public Outcome holdsLock(LockName lock, long token) {
      if (runs.incrementAndGet() <= times) {
        Awaitility.await().until(ends::getAsBoolean);
        ended.run();
        throw new CancellationException();
      }
      return new Outcome.Answered(true);
    }

    @Override
    public Outcome lockToken(LockName lock) {
      return new Outcome.NotGranted();
    }

    @Override
    public Outcome perform(Operation operation) {
      throw new IllegalStateException("no lock operation here");
    }

    @Override
    public Iterable<@Nullable Object[]> rows(SystemTable table) {
      return List.of();
    }
  }

  private List<String> queryBesideDefinitions(LockAccess locks, SqlReader.Canceller canceller)
      throws Exception {
    Future<List<String>> query =
        threads.submit(() -> replica.query(QUERY, StoreDriver.encode(), locks, canceller));
    while (!query.isDone()) {
      replica.ok(session, "CREATE TABLE SCRATCH(ID INT)");
      replica.ok(session, "DROP TABLE SCRATCH");
    }
    return query.get();
  }

  @Test
  void queryThatADefinitionEndedRunsAgain() throws Exception {
    Busy busy = new Busy(5, () -> {});
    assertEquals(List.of("TRUE"), queryBesideDefinitions(busy, new SqlReader.Canceller()));
    assertEquals(6, runs.get());
  }

  @Test
  void queryThatItsClientCancelsDoesNotRunAgain() {
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    Busy busy = new Busy(5, canceller::cancel);
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> queryBesideDefinitions(busy, canceller));
    assertEquals("57014", assertInstanceOf(SQLException.class, e.getCause()).getSQLState());
    assertEquals(1, runs.get());
  }
}
