package dev.tollgate.samples.benchmark;

import dev.tollgate.samples.benchmark.scenario.Scenario;
import dev.tollgate.samples.benchmark.system.Peer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of run.sh. */
@Command(
    name = "run.sh",
    description = "Locks and rows side by side, rounds interleaved. See docs/benchmarks.md.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class Options {
  private static final String ALL = "all";
  private static final String NONE = "none";

  @Option(
      names = "--scenario",
      arity = "1..*",
      split = ",",
      paramLabel = "NAME",
      converter = ScenariosConverter.class,
      description = "What to measure, 'all' for everything; the default leaves some out")
  private @Nullable List<ChosenScenarios> scenarios;

  @Option(
      names = "--peers",
      split = ",",
      paramLabel = "NAME",
      converter = PeersConverter.class,
      description =
          "What to measure against: etcd, zookeeper, hazelcast, postgres, redis; none for Tollgate"
              + " alone. The default is all",
      defaultValue = "etcd,zookeeper,hazelcast,postgres,redis")
  private List<ChosenPeers> peers;

  @Option(
      names = "--nodes",
      converter = NodesConverter.class,
      paramLabel = "1|3|5|embedded",
      description = "Nodes of Tollgate, and members of the peers that have members",
      defaultValue = "3")
  private Nodes nodes;

  @Option(names = "--seconds", description = "Length of a burst", defaultValue = "1")
  private double seconds;

  @Option(names = "--rounds", description = "Rounds of each case", defaultValue = "3")
  private int rounds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description =
          "How long each system in Java works before anything counts; the others a tenth of it",
      defaultValue = "20")
  private double warmUpSeconds;

  @Option(names = "--json", paramLabel = "FILE", description = "Where to write every round to")
  private @Nullable Path json;

  @Option(names = "--heap", description = "Of each node of Tollgate", defaultValue = "1g")
  private String heap;

  @Option(
      names = "--first-port",
      description = "Of a thousand that are free",
      defaultValue = "17000")
  private int firstPort;

  @Option(names = "--home", hidden = true, description = "The source tree", defaultValue = ".")
  private Path home;

  /** The number of nodes, and whether they are embedded. */
  record Nodes(int count, boolean isEmbedded) {
    @Override
    public String toString() {
      return isEmbedded ? "embedded" : count == 1 ? "1 node" : count + " nodes";
    }
  }

  /** The scenarios in the order of their declaration, whatever the order they were named in. */
  Set<Scenario> scenarios() {
    if (scenarios == null) {
      return Arrays.stream(Scenario.values())
          .filter(Scenario::isInDefault)
          .collect(Collectors.toCollection(LinkedHashSet::new));
    }
    return scenarios.stream()
        .flatMap(chosen -> chosen.scenarios().stream())
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scenario.class)));
  }

  /** The chosen systems, each once, in the order in which they were named. */
  Set<Peer> peers() {
    return peers.stream()
        .flatMap(chosen -> chosen.peers().stream())
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  Nodes nodes() {
    return nodes;
  }

  double seconds() {
    return seconds;
  }

  int rounds() {
    return rounds;
  }

  double warmUpSeconds() {
    return warmUpSeconds;
  }

  Optional<Path> json() {
    return Optional.ofNullable(json);
  }

  String heap() {
    return heap;
  }

  int firstPort() {
    return firstPort;
  }

  Path home() {
    return home;
  }

  static final class NodesConverter implements ITypeConverter<Nodes> {
    @Override
    public Nodes convert(String value) {
      return switch (value) {
        case "1", "3", "5" -> new Nodes(Integer.parseInt(value), false);
        case "embedded" -> new Nodes(1, true);
        default -> throw new TypeConversionException("'" + value + "' is not 1, 3, 5 or embedded");
      };
    }
  }

  /** The scenarios that one word stands for. */
  record ChosenScenarios(List<Scenario> scenarios) {}

  /** The systems that one word stands for. */
  record ChosenPeers(List<Peer> peers) {}

  static final class ScenariosConverter implements ITypeConverter<ChosenScenarios> {
    @Override
    public ChosenScenarios convert(String value) {
      List<Scenario> all = List.of(Scenario.values());
      if (value.equals(ALL)) {
        return new ChosenScenarios(all);
      }
      List<Scenario> named = all.stream().filter(s -> s.word().equals(value)).toList();
      if (named.isEmpty()) {
        throw new TypeConversionException(
            "'"
                + value
                + "' is not among all, "
                + all.stream().map(Scenario::word).collect(Collectors.joining(", ")));
      }
      return new ChosenScenarios(named);
    }
  }

  static final class PeersConverter implements ITypeConverter<ChosenPeers> {
    @Override
    public ChosenPeers convert(String value) {
      if (value.equals(NONE)) {
        return new ChosenPeers(List.of());
      }
      List<Peer> all = List.of(Peer.values());
      List<Peer> named = all.stream().filter(peer -> peer.word().equals(value)).toList();
      if (named.isEmpty()) {
        throw new TypeConversionException(
            "'"
                + value
                + "' is not among none, "
                + all.stream().map(Peer::word).collect(Collectors.joining(", ")));
      }
      return new ChosenPeers(named);
    }
  }
}
