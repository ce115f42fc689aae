package dev.tollgate.cli;

import dev.tollgate.node.audit.AuditCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks and shows the audit files of nodes. */
@Command(
    name = "audit",
    description = "Checks and shows the audit files of nodes.",
    mixinStandardHelpOptions = true)
final class AuditCommand implements Runnable {
  @Spec private CommandSpec spec;

  AuditCommand() {}

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "which command? verify or print");
  }

  @Command(
      description = {
        "Says whether audit files are as the node wrote them, and names the first line that does not",
        "fit. FILE, FILE.1, FILE.2 follow each other: name all of them, in any order.",
        "A file from whose end whole lines were cut off fits: --contains tells that.",
        "Encrypted files need the data keys of the node.",
        "No node is needed."
      },
      exitCodeListHeading = "Exit status:%n",
      exitCodeList = {
        "0:all lines fit; an incomplete last line, as after a power cut, is told",
        "1:a line does not fit, or a file cannot be read",
        "2:the command line is wrong"
      },
      mixinStandardHelpOptions = true)
  int verify(
      @Option(
              names = "--contains",
              paramLabel = "HASH",
              description =
                  "One of the lines has to have this hash, such as one that the node has written"
                      + " into its log.")
          @Nullable String hash,
      @Mixin DataKeyOptions dataKeys,
      @Parameters(arity = "1..*", paramLabel = "FILE", description = "An audit file.")
          List<Path> files) {
    if (hash != null && !AuditCheck.isHash(hash)) {
      throw new ParameterException(
          spec.commandLine(), "--contains has to be the 64 hexadecimal digits of a line's hash");
    }
    AuditCheck check;
    List<AuditCheck.Found> all;
    try {
      check = new AuditCheck(hash, dataKeys.read(spec.commandLine()));
      all = check.check(files);
    } catch (IOException e) {
      return Main.failed("the files were not checked", e);
    }
    boolean good = true;
    for (AuditCheck.Found found : all) {
      good &= tell(found);
    }
    if (!check.hasWanted()) {
      System.out.println(
          "no line that fits has the hash "
              + hash
              + ": lines were removed from the end, or the line is in a file that is not named");
    }
    return good && check.hasWanted() ? 0 : Main.FAILED;
  }

  @Command(
      description = {
        "Prints the lines of audit files, encrypted or not, from the oldest to the newest, up to the",
        "first one that does not fit. FILE, FILE.1, FILE.2 follow each other, in any order.",
        "Encrypted files need the data keys of the node. No node is needed."
      },
      exitCodeListHeading = "Exit status:%n",
      exitCodeList = {
        "0:all lines are printed",
        "1:a line does not fit, or a file cannot be read: standard error says which",
        "2:the command line is wrong"
      },
      mixinStandardHelpOptions = true)
  int print(
      @Mixin DataKeyOptions dataKeys,
      @Parameters(arity = "1..*", paramLabel = "FILE", description = "An audit file.")
          List<Path> files) {
    List<AuditCheck.Found> all;
    try {
      all =
          new AuditCheck(null, dataKeys.read(spec.commandLine()), System.out::println).check(files);
    } catch (IOException e) {
      return Main.failed("the files were not printed to their end", e);
    }
    boolean good = true;
    for (AuditCheck.Found found : all) {
      AuditCheck.Fault fault = found.fault();
      if (fault != null) {
        good = false;
        System.err.printf(
            "%s, line %d: %s. The lines before it are printed%n",
            fault.file(), fault.line(), fault.meaning());
      }
    }
    return good ? 0 : Main.FAILED;
  }

  private static boolean tell(AuditCheck.Found found) {
    String files = found.files().stream().map(Path::toString).collect(Collectors.joining(", "));
    AuditCheck.Fault fault = found.fault();
    if (fault != null) {
      System.out.printf(
          "%s, line %d: %s. The %d lines before it fit%s%n",
          fault.file(),
          fault.line(),
          fault.meaning(),
          found.lines(),
          found.last() == null ? "" : ", the last one with the hash " + found.last());
      return false;
    }
    System.out.printf("%s: %d lines, all fit%s%n", files, found.lines(), ends(found));
    if (found.before() != null) {
      System.out.printf(
          "%s: begins after a line with the hash %s, which is in none of these files%n",
          found.files().get(0), found.before());
    }
    if (found.tornBytes() > 0) {
      System.out.printf(
          "%s: ends with %d bytes of a line that was not written to its end, because the node is"
              + " writing or lost power; a node cuts them off when it starts%n",
          found.files().get(found.files().size() - 1), found.tornBytes());
    }
    return true;
  }

  private static String ends(AuditCheck.Found found) {
    return found.last() == null ? "" : "; the last one has the hash " + found.last();
  }
}
