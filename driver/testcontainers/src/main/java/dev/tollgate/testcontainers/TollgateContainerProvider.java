package dev.tollgate.testcontainers;

import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.containers.JdbcDatabaseContainerProvider;

/**
 * Makes the container for a URL such as {@code jdbc:tc:tollgate:///?TC_INITSCRIPT=schema.sql}. What
 * stands behind {@code tollgate:} is the tag of the image. Found by {@link
 * java.util.ServiceLoader}.
 */
public final class TollgateContainerProvider extends JdbcDatabaseContainerProvider {
  @Override
  public boolean supports(String databaseType) {
    return databaseType.equals("tollgate");
  }

  @Override
  public JdbcDatabaseContainer<?> newInstance() {
    return new TollgateContainer();
  }

  @Override
  public JdbcDatabaseContainer<?> newInstance(String tag) {
    return new TollgateContainer(TollgateContainer.IMAGE.withTag(tag));
  }
}
