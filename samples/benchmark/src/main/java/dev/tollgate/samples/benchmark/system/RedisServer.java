package dev.tollgate.samples.benchmark.system;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** One server of Redis that syncs every write to disk before it answers. */
public final class RedisServer implements Ensemble {
  private static final int PORT = 501;

  private final Process process;
  private final String address;

  /**
   * @param program the server
   */
  public RedisServer(Ground ground, Path program) throws Exception {
    this.address = ground.addresses(PORT, 1).get(0);
    Path data = Files.createDirectory(ground.directory().resolve("redis"));
    this.process =
        ground.start(
            "redis-server",
            Map.of(),
            List.of(
                program.toString(),
                "--bind",
                "127.0.0.1",
                "--port",
                Integer.toString(ground.port(PORT)),
                "--dir",
                data.toString(),
                "--appendonly",
                "yes",
                "--appendfsync",
                "always",
                "--save",
                ""));
    ground.awaitReady("redis-server", process, () -> Ground.accepts(ground.port(PORT)));
  }

  @Override
  public List<Kind> kinds() {
    return List.of(Kind.REDIS);
  }

  @Override
  public String endpoints() {
    return address;
  }

  @Override
  public void stop() throws InterruptedException {
    Ground.kill(process);
  }
}
