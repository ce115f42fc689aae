package dev.tollgate.samples.torture;

import dev.tollgate.samples.torture.fault.FaultKind;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of torture.sh. */
@Command(
    name = "torture.sh",
    description = "Real nodes, real clients, real faults. See docs/verification.md.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class Options {
  @Option(
      names = "--seconds",
      description = "How long faults are injected; starting and checking take half a minute more",
      defaultValue = "60")
  private int seconds;

  @Option(
      names = "--seed",
      description = "Of the faults and of what each client does; the default is another each time",
      defaultValue = Option.NULL_VALUE)
  private @Nullable Long seed;

  @Option(
      names = "--faults",
      split = ",",
      paramLabel = "KIND",
      converter = FaultConverter.class,
      description =
          "Which of ${COMPLETION-CANDIDATES}; the default is all of them, rotate only with"
              + " --secure, and power, eio and hang not",
      completionCandidates = FaultWords.class,
      defaultValue = Option.NULL_VALUE)
  private @Nullable List<FaultKind> faults;

  @Option(
      names = "--power-cuts",
      description = "Instead of the default, the faults kill, power and eio")
  private boolean powerCuts;

  @Option(
      names = "--secure",
      description =
          "TLS on all connections, logins, users with the rights that they need, and audit files")
  private boolean secure;

  @Option(
      names = "--encrypted",
      description = "Each node encrypts its directory, with a key of its own")
  private boolean encrypted;

  @Option(
      names = "--nodes",
      paramLabel = "3|5",
      converter = NodesConverter.class,
      description = "How many nodes",
      defaultValue = "3")
  private int nodes;

  @Option(names = "--clients", description = "How many clients", defaultValue = "8")
  private int clients;

  @Option(
      names = "--lease",
      paramLabel = "SECONDS",
      description = "How long locks outlive their client",
      defaultValue = "6")
  private int leaseSeconds;

  @Option(names = "--report", paramLabel = "FILE", description = "Where to draw the run, as SVG")
  private @Nullable Path report;

  @Option(
      names = "--keep",
      paramLabel = "DIRECTORY",
      description = "Where data, logs and the history stay; the default keeps them after a failure")
  private @Nullable Path keep;

  @Option(names = "--home", hidden = true, required = true)
  private Path home;

  @Option(names = "--own-namespaces", hidden = true)
  private boolean ownNamespaces;

  int seconds() {
    return seconds;
  }

  /** Returns the seed of the run, the same at every call. */
  long seed() {
    if (seed == null) {
      seed = System.nanoTime() % 1_000_000;
    }
    return seed;
  }

  List<FaultKind> faults() {
    if (faults != null) {
      return faults.stream().distinct().toList();
    }
    return powerCuts
        ? List.of(FaultKind.KILL, FaultKind.POWER, FaultKind.EIO)
        : Arrays.stream(FaultKind.values())
            .filter(kind -> secure || kind != FaultKind.ROTATE)
            .filter(kind -> !kind.needsRecordedDisks())
            .toList();
  }

  /** Whether connections are encrypted, and clients have to log in. */
  boolean secure() {
    return secure;
  }

  /** Whether nodes encrypt their directories. */
  boolean encrypted() {
    return encrypted;
  }

  int nodes() {
    return nodes;
  }

  int clients() {
    return clients;
  }

  int leaseSeconds() {
    return leaseSeconds;
  }

  Optional<Path> report() {
    return Optional.ofNullable(report);
  }

  Optional<Path> keep() {
    return Optional.ofNullable(keep);
  }

  /** The directory of the source tree. */
  Path home() {
    return home;
  }

  /** Whether this process may make network interfaces as it likes, because only it sees them. */
  boolean ownNamespaces() {
    return ownNamespaces;
  }

  /** The command that repeats the run. */
  String command() {
    return "samples/torture.sh --seconds "
        + seconds
        + " --seed "
        + seed()
        + " --faults "
        + faults().stream().map(FaultKind::word).collect(Collectors.joining(","))
        + " --nodes "
        + nodes
        + " --clients "
        + clients
        + " --lease "
        + leaseSeconds
        + (secure ? " --secure" : "")
        + (encrypted ? " --encrypted" : "");
  }

  static final class FaultWords implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
      return Arrays.stream(FaultKind.values()).map(FaultKind::word).iterator();
    }
  }

  static final class FaultConverter implements ITypeConverter<FaultKind> {
    @Override
    public FaultKind convert(String value) {
      return FaultKind.find(value)
          .orElseThrow(
              () ->
                  new TypeConversionException(
                      "'"
                          + value
                          + "' is not among "
                          + Arrays.stream(FaultKind.values())
                              .map(FaultKind::word)
                              .collect(Collectors.joining(", "))));
    }
  }

  static final class NodesConverter implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String value) {
      return switch (value) {
        case "3" -> 3;
        case "5" -> 5;
        default -> throw new TypeConversionException("'" + value + "' is not 3 or 5");
      };
    }
  }
}
