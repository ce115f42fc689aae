package dev.tollgate.samples.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.torture.fault.FaultKind;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class OptionsTest {
  private static Options parse(String... arguments) {
    Options options = new Options();
    String[] all = new String[arguments.length + 1];
    System.arraycopy(arguments, 0, all, 1, arguments.length);
    all[0] = "--home=.";
    new CommandLine(options).parseArgs(all);
    return options;
  }

  private static String refusal(String... arguments) {
    return assertThrows(CommandLine.ParameterException.class, () -> parse(arguments)).getMessage();
  }

  @Test
  void withoutAnyAllFaultsForAMinuteOnThreeNodes() {
    Options options = parse();
    assertEquals(
        List.of(
            FaultKind.KILL,
            FaultKind.PAUSE,
            FaultKind.PARTITION,
            FaultKind.CLOCK,
            FaultKind.DISK,
            FaultKind.SLOW),
        options.faults());
    assertFalse(options.secure());
    assertEquals(60, options.seconds());
    assertEquals(3, options.nodes());
    assertEquals(options.seed(), options.seed(), "made up once");
  }

  @Test
  void encryptedRunIsRepeatedEncrypted() {
    Options options = parse("--secure", "--encrypted", "--seed=17");
    assertTrue(options.encrypted());
    assertTrue(options.command().endsWith(" --secure --encrypted"), options.command());
  }

  @Test
  void secureRunReplacesCertificatesToo() {
    Options options = parse("--secure", "--seed=17");
    assertEquals(
        List.of(
            FaultKind.KILL,
            FaultKind.PAUSE,
            FaultKind.PARTITION,
            FaultKind.CLOCK,
            FaultKind.DISK,
            FaultKind.SLOW,
            FaultKind.ROTATE),
        options.faults());
    assertEquals(
        "samples/torture.sh --seconds 60 --seed 17 --faults"
            + " kill,pause,partition,clock,disk,slow,rotate --nodes 3 --clients 8 --lease 6"
            + " --secure",
        options.command());
    assertEquals(
        List.of(FaultKind.KILL), parse("--secure", "--faults=kill").faults(), "what was asked for");
  }

  @Test
  void powerCutsAreInPlaceOfTheDefault() {
    Options options = parse("--power-cuts", "--seed=17");
    assertEquals(List.of(FaultKind.KILL, FaultKind.POWER, FaultKind.EIO), options.faults());
    assertEquals(
        "samples/torture.sh --seconds 60 --seed 17 --faults kill,power,eio --nodes 3 --clients 8"
            + " --lease 6",
        options.command());
    assertEquals(
        List.of(FaultKind.HANG),
        parse("--power-cuts", "--faults=hang").faults(),
        "what was asked for");
  }

  @Test
  void commandRepeatsTheRun() {
    Options options = parse("--seed=17", "--faults=kill,pause,kill", "--nodes=5", "--lease=3");
    assertEquals(List.of(FaultKind.KILL, FaultKind.PAUSE), options.faults());
    String command = options.command();
    assertEquals(
        "samples/torture.sh --seconds 60 --seed 17 --faults kill,pause --nodes 5 --clients 8"
            + " --lease 3",
        command);
    String[] words = command.split(" ");
    assertEquals(
        command, parse(List.of(words).subList(1, words.length).toArray(new String[0])).command());
  }

  @Test
  void whatIsNotKnownIsRefusedWithWhatIs() {
    assertTrue(
        refusal("--faults=fire")
            .contains(
                "'fire' is not among kill, pause, partition, clock, disk, slow, rotate, power, eio,"
                    + " hang"));
    assertTrue(refusal("--nodes=4").contains("'4' is not 3 or 5"));
  }
}
