package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A server of another database for the tests of a class. */
public abstract class DatabaseServer implements BeforeAllCallback, AfterAllCallback {
  private @Nullable DatabaseProcess process;

  /** Starts a server; skips the tests where it is not installed. */
  abstract DatabaseProcess start() throws Exception;

  @Override
  public void beforeAll(ExtensionContext context) throws Exception {
    process = start();
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
