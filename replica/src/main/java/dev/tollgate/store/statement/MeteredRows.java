package dev.tollgate.store.statement;

import dev.tollgate.store.h2.Nesting;
import org.h2.result.ResultTarget;
import org.h2.value.Value;

/** Tells a meter the size of each row that a query gives, and keeps none. */
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
