package dev.tollgate.flyway;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Map;
import java.util.Properties;
import org.flywaydb.core.api.ResourceProvider;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.internal.database.base.BaseDatabaseType;
import org.flywaydb.core.internal.database.h2.H2Parser;
import org.flywaydb.core.internal.jdbc.JdbcConnectionFactory;
import org.flywaydb.core.internal.jdbc.StatementInterceptor;
import org.flywaydb.core.internal.parser.Parser;
import org.flywaydb.core.internal.parser.ParsingContext;

/** What Flyway finds by the service loader: the database behind URLs of jdbc:tollgate:. */
public final class TollgateDatabaseType extends BaseDatabaseType {
  private static final String URL = "jdbc:tollgate:";

  @Override
  public String getName() {
    return "Tollgate";
  }

  /** Before H2, which is what the driver says the product is. */
  @Override
  public int getPriority() {
    return 1;
  }

  @Override
  public int getNullType() {
    return Types.VARCHAR;
  }

  @Override
  public boolean handlesJDBCUrl(String url) {
    return url.startsWith(URL);
  }

  @Override
  public String getDriverClass(String url, ClassLoader classLoader) {
    return "dev.tollgate.jdbc.TollgateDriver";
  }

  @Override
  public boolean handlesDatabaseProductNameAndVersion(
      String productName, String productVersion, Connection connection) {
    try {
      return handlesJDBCUrl(connection.getMetaData().getURL());
    } catch (SQLException e) {
      return false;
    }
  }

  /** The session of a killed run, and its open transaction, end about when its lease does. */
  @Override
  public void setConfigConnectionProps(
      Configuration configuration, Properties properties, ClassLoader classLoader) {
    for (Map.Entry<String, String> property :
        RunSettings.of(configuration).sessionProperties().entrySet()) {
      properties.putIfAbsent(property.getKey(), property.getValue());
    }
  }

  @Override
  public TollgateDatabase createDatabase(
      Configuration configuration,
      JdbcConnectionFactory connections,
      StatementInterceptor interceptor) {
    return new TollgateDatabase(configuration, connections, interceptor);
  }

  @Override
  public Parser createParser(
      Configuration configuration, ResourceProvider resources, ParsingContext context) {
    return new H2Parser(configuration, context);
  }
}
