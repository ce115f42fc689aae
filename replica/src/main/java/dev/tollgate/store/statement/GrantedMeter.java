package dev.tollgate.store.statement;

/** A meter that lets some rows and bytes pass before it reports to another meter. */
final class GrantedMeter implements StatementMeter {
  private final StatementMeter meter;
  private long rows;
  private long bytes;

  GrantedMeter(StatementMeter meter, long rows, long bytes) {
    this.meter = meter;
    this.rows = rows;
    this.bytes = bytes;
  }

  @Override
  public void looked(int more) {
    rows -= more;
    if (rows < 0) {
      meter.looked((int) -Math.max(rows, -more));
      rows = 0;
    }
  }

  @Override
  public void wrote(long more) {
    bytes -= more;
    if (bytes < 0) {
      meter.wrote(-Math.max(bytes, -more));
      bytes = 0;
    }
  }

  @Override
  public void stepped(int steps) {
    meter.stepped(steps);
  }

  @Override
  public void compared(long bytes) {
    meter.compared(bytes);
  }

  @Override
  public void changed(long changes) {
    meter.changed(changes);
  }
}
