package dev.tollgate.spring.boot;

import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * How Boot 4 adds {@link DriverClassSource} and {@link EmbeddedDefaultsSource}: after it has read
 * the application's properties.
 */
final class DriverClassPostProcessor implements EnvironmentPostProcessor {
  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    DriverClassSource.addTo(environment);
    EmbeddedDefaultsSource.addTo(environment);
  }
}
