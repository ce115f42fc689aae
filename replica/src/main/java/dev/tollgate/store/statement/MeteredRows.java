package dev.tollgate.store.statement;

import dev.tollgate.store.h2.Nesting;
import org.h2.result.ResultTarget;
import org.h2.value.Value;

/** Reports the size of each row of a query to a meter, and keeps no rows. */
record MeteredRows(StatementMeter meter) implements ResultTarget {
  @Override
  public void addRow(Value... values) {
    meter.wrote(Nesting.requireBytes(values));
  }

  @Override
  public long getRowCount() {
    return 0;
  }

  @Override
  public void limitsWereApplied() {}
}
