package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;

/** What {@link ClusterProbe} finds, for Boot 3.5. */
final class Boot3HealthIndicator implements HealthIndicator {
  private final ClusterProbe probe;

  Boot3HealthIndicator(ClusterProbe probe) {
    this.probe = requireNonNull(probe, "probe");
  }

  @Override
  public Health health() {
    ClusterProbe.Finding finding = probe.ask();
    return (finding.isUp() ? Health.up() : Health.down()).withDetails(finding.details()).build();
  }
}
