package dev.tollgate.samples.benchmark.system;

import com.hazelcast.core.server.HazelcastMemberStarter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Members of Hazelcast with a CP subsystem of all of them, from its jar. */
public final class HazelcastMembers implements Ensemble {
  /** Fewest members that its CP subsystem needs. */
  public static final int FEWEST = 3;

  private static final int FIRST = 301;

  private final Members members = new Members();
  private final List<String> addresses;

  public HazelcastMembers(Ground ground, int count) throws Exception {
    this.addresses = ground.addresses(FIRST, count);
    // a member reports at INFO that it is ready
    Path logging = ground.directory().resolve("hazelcast-logging.properties");
    Files.writeString(logging, "handlers=java.util.logging.ConsoleHandler\n.level=INFO\n");
    for (int i = 0; i < count; i++) {
      String name = "hazelcast" + i;
      Path settings = ground.directory().resolve(name + ".yaml");
      Files.writeString(settings, settings(ground.port(FIRST + i), count));
      members.add(
          new Member(
              ground,
              name,
              Map.of(),
              Ground.javaCommand(
                  List.of(
                      "-Xmx256m",
                      "-Dhazelcast.config=" + settings,
                      "-Dhazelcast.phone.home.enabled=false",
                      "-Djava.util.logging.config.file=" + logging,
                      "-Dhazelcast.logging.type=jdk"),
                  HazelcastMemberStarter.class.getName(),
                  List.of()),
              () -> ground.outputOf(name).contains("CP Subsystem is initialized")));
    }
    members.awaitReady();
  }

  private String settings(int port, int count) {
    StringBuilder text = new StringBuilder("hazelcast:\n  cluster-name: benchmark\n");
    text.append("  network:\n    port:\n      auto-increment: false\n      port: ").append(port);
    text.append("\n    interfaces:\n      enabled: true\n      interfaces: [127.0.0.1]\n");
    text.append("    join:\n      auto-detection:\n        enabled: false\n");
    text.append("      multicast:\n        enabled: false\n");
    text.append("      tcp-ip:\n        enabled: true\n        member-list:\n");
    addresses.forEach(address -> text.append("          - ").append(address).append('\n'));
    text.append("  cp-subsystem:\n    cp-member-count: ").append(count);
    text.append("\n    group-size: ")
        .append(count)
        .append("\n    session-time-to-live-seconds: 60");
    return text.append("\n").toString();
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.HAZELCAST);
  }

  @Override
  public String endpoints() {
    return String.join(",", addresses);
  }

  @Override
  public void stop() throws Exception {
    members.stop();
  }
}
