package dev.tollgate.spring.boot;

import static java.util.Objects.requireNonNull;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;

/** What {@link ClusterProbe} finds, for Boot 4. */
final class TollgateHealthIndicator implements HealthIndicator {
  private final ClusterProbe probe;

  TollgateHealthIndicator(ClusterProbe probe) {
    this.probe = requireNonNull(probe, "probe");
  }

  @Override
  public Health health() {
    ClusterProbe.Finding finding = probe.ask();
    return (finding.isUp() ? Health.up() : Health.down()).withDetails(finding.details()).build();
  }
}
