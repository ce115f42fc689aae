package dev.tollgate.samples.benchmark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.benchmark.scenario.Scenario;
import dev.tollgate.samples.benchmark.system.Peer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class OptionsTest {
  private static Options parsed(String... arguments) {
    Options options = new Options();
    new CommandLine(options).parseArgs(arguments);
    return options;
  }

  @Test
  void withoutOptionsAllPeersAndTheDefaultSetAreMeasured() {
    Options options = parsed();
    assertEquals(List.of(Peer.values()), List.copyOf(options.peers()));
    assertTrue(options.scenarios().contains(Scenario.LATENCY));
    assertFalse(options.scenarios().contains(Scenario.SEQUENTIAL));
    assertEquals(new Options.Nodes(3, false), options.nodes());
    assertEquals(Optional.empty(), options.json());
  }

  @Test
  void scenariosRunInTheOrderOfTheirDeclaration() {
    Options options = parsed("--scenario", "reads", "latency", "--scenario", "handoff,expiry");
    assertEquals(
        List.of(Scenario.LATENCY, Scenario.HANDOFF, Scenario.READS, Scenario.EXPIRY),
        List.copyOf(options.scenarios()));
  }

  @Test
  void allMeansThoseOutsideOfTheDefaultSetToo() {
    assertEquals(List.of(Scenario.values()), List.copyOf(parsed("--scenario", "all").scenarios()));
  }

  @Test
  void peersAreNamedWithCommas() {
    assertEquals(
        List.of(Peer.REDIS, Peer.ETCD), List.copyOf(parsed("--peers", "redis,etcd").peers()));
    assertEquals(List.of(), List.copyOf(parsed("--peers", "none").peers()));
  }

  @Test
  void nodesAreOneThreeFiveOrEmbedded() {
    assertEquals(new Options.Nodes(5, false), parsed("--nodes", "5").nodes());
    assertEquals(new Options.Nodes(1, true), parsed("--nodes=embedded").nodes());
  }

  @Test
  void numbersAndFilesAreTakenAsTheyAre() {
    Options options =
        parsed("--seconds", "0.5", "--rounds", "7", "--warm-up", "2", "--json", "out.json");
    assertEquals(0.5, options.seconds());
    assertEquals(7, options.rounds());
    assertEquals(2, options.warmUpSeconds());
    assertEquals(Optional.of(Path.of("out.json")), options.json());
  }

  @ParameterizedTest
  @ValueSource(strings = {"--scenario=speed", "--peers=consul", "--nodes=2", "--seconds=long"})
  void whatDoesNotExistIsRefused(String argument) {
    assertThrows(ParameterException.class, () -> parsed(argument));
  }

  @Test
  void aRefusalNamesWhatThereIs() {
    ParameterException refusal =
        assertThrows(ParameterException.class, () -> parsed("--scenario", "speed"));
    assertTrue(refusal.getMessage().contains("held-locks"), refusal.getMessage());
  }
}
