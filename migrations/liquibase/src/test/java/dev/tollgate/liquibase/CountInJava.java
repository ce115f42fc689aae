package dev.tollgate.liquibase;

import java.sql.SQLException;
import java.sql.Statement;
import liquibase.change.custom.CustomTaskChange;
import liquibase.database.Database;
import liquibase.database.jvm.JdbcConnection;
import liquibase.exception.CustomChangeException;
import liquibase.exception.DatabaseException;
import liquibase.exception.ValidationErrors;
import liquibase.resource.ResourceAccessor;

/** A change in Java that works on the connection itself. */
public final class CountInJava implements CustomTaskChange {
  @Override
  public void execute(Database database) throws CustomChangeException {
    JdbcConnection connection = (JdbcConnection) database.getConnection();
    try (Statement statement = connection.createStatement()) {
      statement.execute("UPDATE counter SET n = n + 1000");
    } catch (SQLException | DatabaseException e) {
      throw new CustomChangeException(e);
    }
  }

  @Override
  public String getConfirmationMessage() {
    return "counted";
  }

  @Override
  public void setUp() {}

  @Override
  public void setFileOpener(ResourceAccessor files) {}

  @Override
  public ValidationErrors validate(Database database) {
    return new ValidationErrors();
  }
}
