package dev.tollgate.samples.benchmark.system;

import java.util.List;

/** One durable node of Tollgate in this process, which is its only client. */
public final class EmbeddedTollgate implements Ensemble {
  private final String url;

  public EmbeddedTollgate(Ground ground) {
    this.url = "jdbc:tollgate:embedded:" + ground.directory().resolve("embedded");
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.TOLLGATE);
  }

  @Override
  public String endpoints() {
    return url;
  }

  @Override
  public boolean isReachable() {
    return false;
  }

  @Override
  public void stop() {}
}
