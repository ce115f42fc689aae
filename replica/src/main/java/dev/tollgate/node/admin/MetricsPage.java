package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import com.sun.management.OperatingSystemMXBean;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The metrics as Prometheus reads them. Micrometer counts what concerns the JVM. The rest is read
 * from the node when a scrape comes, so nothing of a request or an entry passes through a library
 * of metrics. Thread-safe.
 */
final class MetricsPage implements AutoCloseable {
  private static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final PrometheusMeterRegistry registry =
      new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final JvmGcMetrics collections = new JvmGcMetrics();

  /**
   * @param figures takes the figures of the node; null while there are none
   */
  MetricsPage(Supplier<@Nullable Figures> figures) {
    requireNonNull(figures, "figures");
    // Micrometer's name ends like a sample of a histogram
    registry
        .config()
        .meterFilter(
            new MeterFilter() {
              @Override
              public Meter.Id map(Meter.Id id) {
                return id.getName().equals("system.cpu.count") ? id.withName("system.cpus") : id;
              }
            })
        // Micrometer counts nanoseconds, and under a name that no other program has
        .meterFilter(MeterFilter.denyNameStartsWith("process.cpu.time"));
    if (ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system) {
      FunctionCounter.builder(
              "process.cpu",
              system,
              of -> (double) of.getProcessCpuTime() / TimeUnit.SECONDS.toNanos(1))
          .baseUnit("seconds")
          .description("Processor time of the process.")
          .register(registry);
    }
    List<MeterBinder> binders =
        List.of(
            collections,
            new JvmMemoryMetrics(),
            new JvmThreadMetrics(),
            new ProcessorMetrics(),
            new FileDescriptorMetrics(),
            new UptimeMetrics());
    binders.forEach(binder -> binder.bindTo(registry));
    MultiCollector ofNode =
        () -> {
          Figures now = figures.get();
          return now == null ? new MetricSnapshots() : NodeMetrics.of(now);
        };
    registry.getPrometheusRegistry().register(ofNode);
  }

  List<Route> routes() {
    return List.of(new Route("GET", "/metrics", Audience.USERS, request -> scrape()));
  }

  private Answer scrape() {
    return Answer.of(
        Answer.OK, CONTENT_TYPE, registry.scrape(CONTENT_TYPE).getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public void close() {
    collections.close();
    registry.close();
  }
}
