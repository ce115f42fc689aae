package dev.tollgate.simulation;

import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.util.List;
import java.util.stream.Collectors;
import org.h2.value.Value;

/** Statements of clients as requests, and what replies say about them. */
final class OpMessages {
  private OpMessages() {}

  static Request request(Op op, long sequence, boolean trusted) {
    if (op.isSeries()) {
      return new Request.ExecuteSeries(
          sequence,
          trusted,
          op.transactionMode(),
          op.ending(),
          op.parts().stream()
              .map(part -> new Request.SeriesStatement(part.sql(), encoded(part.parameters())))
              .toList());
    }
    return execute(op.sql(), sequence, trusted, op.transactionMode(), op.parameters());
  }

  /** A statement that sets the database up. */
  static Request request(String sql, long sequence) {
    return execute(sql, sequence, /* trusted= */ true, TransactionMode.AUTOCOMMIT, List.of());
  }

  private static Request execute(
      String sql, long sequence, boolean trusted, TransactionMode mode, List<SqlValue> parameters) {
    return new Request.Execute(
        sequence,
        trusted,
        mode,
        false,
        sql,
        new KeyRequest.None(),
        0,
        0,
        List.of(encoded(parameters)));
  }

  private static byte[] encoded(List<SqlValue> parameters) {
    return SqlValue.encodeFirst(parameters, parameters.size());
  }

  static Op.Answer read(Reply reply) {
    if (reply instanceof Reply.Failure failure) {
      return new Op.Answer(null, null, failure.sqlState());
    }
    if (reply instanceof Reply.BatchResult batch) {
      return new Op.Answer(
          batch.results().stream().map(OpMessages::part).collect(Collectors.joining(",")),
          null,
          null);
    }
    StatementResult result = StatementResult.read(((Reply.Result) reply).body(), null);
    if (result instanceof StatementResult.Updated updated) {
      return new Op.Answer(Long.toString(updated.count()), null, null);
    }
    Value[] row = ((StatementResult.Rows) result).rows().page().rows().get(0);
    return new Op.Answer(row[0].getString(), row.length > 1 ? row[1].getString() : null, null);
  }

  private static String part(Reply result) {
    String value = read(result).value();
    return value == null ? "refused" : value;
  }
}
