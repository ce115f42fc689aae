package dev.tollgate.spring.boot;

import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * How Boot 3.5 adds {@link DriverClassSource} and {@link EmbeddedDefaultsSource}. Boot 4.0 still
 * knows the interface and calls this class too, which changes nothing then.
 */
@SuppressWarnings({"deprecation", "removal"})
final class Boot3DriverClassPostProcessor
    implements org.springframework.boot.env.EnvironmentPostProcessor {
  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    DriverClassSource.addTo(environment);
    EmbeddedDefaultsSource.addTo(environment);
  }
}
