package dev.tollgate.cli;

import dev.tollgate.cli.certificates.CertificateFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Makes a CA for tests, and certificates of nodes and users. */
@Command(
    name = "certificates",
    description = {
      "Makes a CA for tests, and certificates of nodes and users.",
      "The key of the CA lies unprotected in FOLDER: whoever reads it can join the cluster. Use the"
          + " CA of your company, or your own, for anything that matters."
    },
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class CertificatesCommand implements Callable<Integer> {
  /** Names become names of files. */
  private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}_-][\\p{L}\\p{N}._@-]{0,63}");

  private static final long MOST_DAYS = 36_500;

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "FOLDER", description = "Where the files are; made if need be.")
  private Path folder;

  @Option(
      names = "--node",
      paramLabel = "ID=HOST,...",
      description =
          "A node, and the names and addresses of its host, as in the URLs of clients and in"
              + " --peers. May be given several times.")
  private Map<String, String> nodes = new TreeMap<>();

  @Option(
      names = "--user",
      paramLabel = "NAME",
      description = "A user, for a client certificate. May be given several times.")
  private List<String> users = List.of();

  @Option(
      names = "--renew",
      description =
          "Replace certificates and keys that are there: those of the nodes and users that are"
              + " named, or all.")
  private boolean renew;

  @Option(
      names = "--revoke",
      paramLabel = "NAME",
      description = "A node or user whose certificate is added to crl.pem, for --tls-crl.")
  private List<String> revoked = List.of();

  @Option(
      names = "--days",
      defaultValue = "365",
      description = "For how long certificates are valid.")
  private long days;

  CertificatesCommand() {}

  @Override
  public Integer call() throws Exception {
    requireSense();
    try {
      CertificateFolder files = new CertificateFolder(folder, Clock.systemUTC().instant());
      for (String name : revoked) {
        files.revoke(name);
        System.out.println("revoked " + name + " in " + files.revocations());
      }
      for (Map.Entry<String, String> node : nodes.entrySet()) {
        files.issueNode(node.getKey(), List.of(node.getValue().split(",", -1)), days, renew);
        printIssued(files, "node", node.getKey());
      }
      for (String user : users) {
        files.issueUser(user, days, renew);
        printIssued(files, "user", user);
      }
      if (renew && nodes.isEmpty() && users.isEmpty()) {
        for (String name : files.renewAll(days)) {
          printIssued(files, "again", name);
        }
      }
      System.out.println(
          "trust   " + files.certificate("ca") + "  (a CA for tests: its key is not protected)");
      return 0;
    } catch (IOException e) {
      return Main.failed("not all certificates were made", e);
    } catch (GeneralSecurityException e) {
      return Main.failed("not all certificates were made", new IOException(e.getMessage(), e));
    }
  }

  private static void printIssued(CertificateFolder files, String kind, String name) {
    System.out.printf(
        "%-7s %s with key %s%n", kind, files.certificate(name), files.key(name).getFileName());
  }

  private void requireSense() {
    nodes.keySet().forEach(this::requireName);
    users.forEach(this::requireName);
    revoked.forEach(this::requireName);
    nodes.forEach(
        (id, hosts) -> {
          for (String host : hosts.split(",", -1)) {
            require(
                host.matches("[A-Za-z0-9.:_-]+"),
                "--node " + id + ": '" + host + "' is no name or address of a host");
          }
        });
    users.forEach(
        user -> require(!nodes.containsKey(user), "'" + user + "' is both a node and a user"));
    require(days >= 1 && days <= MOST_DAYS, "--days has to be from 1 to " + MOST_DAYS);
  }

  private void requireName(String name) {
    require(
        NAME.matcher(name).matches() && !name.equals("ca"),
        "'"
            + name
            + "' is no name for a certificate: write letters, digits, dots or hyphens, but"
            + " not 'ca'");
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }
}
