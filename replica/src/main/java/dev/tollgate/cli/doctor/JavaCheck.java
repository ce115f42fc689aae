package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.util.List;

/** The Java runtime: statements have the same results only on the runtimes that were tested. */
final class JavaCheck implements Check {
  private static final int LEAST = 17;

  /** The releases with long-term support that Java had when this was written. */
  private static final List<Integer> SUPPORTED = List.of(17, 21, 25);

  private final int release;
  private final String vendor;

  JavaCheck(int release, String vendor) {
    this.release = release;
    this.vendor = requireNonNull(vendor, "vendor");
  }

  @Override
  public String subject() {
    return "java";
  }

  @Override
  public List<Finding> run() {
    String fact = "Java " + release + ", " + vendor;
    if (release < LEAST) {
      return List.of(Finding.fail(subject(), fact, "install Java 17, and name it in JAVA_HOME"));
    }
    return List.of(
        SUPPORTED.contains(release)
            ? Finding.pass(subject(), fact)
            : Finding.warn(
                subject(),
                fact + ", a release without long-term support",
                "take Java 17; all nodes of a cluster need the same runtime"));
  }
}
