package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server of MariaDB for the tests of a class, which are skipped where it is not installed. */
public final class MariadbServer implements BeforeAllCallback, AfterAllCallback {
  private @Nullable MariadbProcess process;

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    process = MariadbProcess.start();
  }

  @Override
  public void afterAll(ExtensionContext context) throws Exception {
    if (process != null) {
      process.close();
    }
  }

  public String url() {
    return requireNonNull(process, "it was not started").url();
  }
}
