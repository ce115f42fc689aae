package dev.tollgate.jdbc;

import dev.tollgate.value.Parameter;
import java.util.ArrayList;
import java.util.List;
import org.h2.engine.Constants;
import org.h2.jdbc.meta.DatabaseMeta;
import org.h2.mode.DefaultNullOrdering;
import org.h2.result.ResultInterface;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueInteger;
import org.h2.value.ValueNull;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/**
 * Metadata of the database, requested from the node. The codes are the numbers that H2's own server
 * gives the methods; they are part of the protocol.
 */
final class TollgateDatabaseMeta extends DatabaseMeta {
  private final StatementRunner runner;

  TollgateDatabaseMeta(StatementRunner runner) {
    this.runner = runner;
  }

  private ResultInterface ask(int code, @Nullable Object... arguments) {
    List<Value> values = new ArrayList<>();
    for (Object argument : arguments) {
      values.add(value(argument));
    }
    return runner.metadata(code, Parameter.encodeValues(values));
  }

  private static Value value(@Nullable Object argument) {
    if (argument instanceof String text) {
      return ValueVarchar.get(text);
    }
    if (argument instanceof Integer number) {
      return ValueInteger.get(number);
    }
    if (argument instanceof Boolean flag) {
      return ValueBoolean.get(flag);
    }
    if (argument instanceof String[] texts) {
      Value[] elements = new Value[texts.length];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = value(texts[i]);
      }
      return ValueArray.get(TypeInfo.TYPE_VARCHAR, elements, null);
    }
    if (argument instanceof int[] numbers) {
      Value[] elements = new Value[numbers.length];
      for (int i = 0; i < elements.length; i++) {
        elements[i] = ValueInteger.get(numbers[i]);
      }
      return ValueArray.get(TypeInfo.TYPE_INTEGER, elements, null);
    }
    return ValueNull.INSTANCE;
  }

  private Value one(int code) {
    ResultInterface result = ask(code);
    result.next();
    return result.currentRow()[0];
  }

  @Override
  public DefaultNullOrdering defaultNullOrdering() {
    return DefaultNullOrdering.valueOf(one(0).getInt());
  }

  @Override
  public String getDatabaseProductVersion() {
    return Constants.VERSION + " (Tollgate " + DriverVersion.TEXT + ")";
  }

  @Override
  public String getSQLKeywords() {
    return one(2).getString();
  }

  @Override
  public String getNumericFunctions() {
    return one(3).getString();
  }

  @Override
  public String getStringFunctions() {
    return one(4).getString();
  }

  @Override
  public String getSystemFunctions() {
    return one(5).getString();
  }

  @Override
  public String getTimeDateFunctions() {
    return one(6).getString();
  }

  @Override
  public String getSearchStringEscape() {
    return one(7).getString();
  }

  @Override
  public ResultInterface getProcedures(String catalog, String schema, String name) {
    return ask(8, catalog, schema, name);
  }

  @Override
  public ResultInterface getProcedureColumns(
      String catalog, String schema, String name, String column) {
    return ask(9, catalog, schema, name, column);
  }

  @Override
  public ResultInterface getTables(String catalog, String schema, String table, String[] types) {
    return ask(10, catalog, schema, table, types);
  }

  @Override
  public ResultInterface getSchemas() {
    return ask(11);
  }

  @Override
  public ResultInterface getCatalogs() {
    return ask(12);
  }

  @Override
  public ResultInterface getTableTypes() {
    return ask(13);
  }

  @Override
  public ResultInterface getColumns(String catalog, String schema, String table, String column) {
    return ask(14, catalog, schema, table, column);
  }

  @Override
  public ResultInterface getColumnPrivileges(
      String catalog, String schema, String table, String column) {
    return ask(15, catalog, schema, table, column);
  }

  @Override
  public ResultInterface getTablePrivileges(String catalog, String schema, String table) {
    return ask(16, catalog, schema, table);
  }

  @Override
  public ResultInterface getBestRowIdentifier(
      String catalog, String schema, String table, int scope, boolean nullable) {
    return ask(17, catalog, schema, table, scope, nullable);
  }

  @Override
  public ResultInterface getVersionColumns(String catalog, String schema, String table) {
    return ask(18, catalog, schema, table);
  }

  @Override
  public ResultInterface getPrimaryKeys(String catalog, String schema, String table) {
    return ask(19, catalog, schema, table);
  }

  @Override
  public ResultInterface getImportedKeys(String catalog, String schema, String table) {
    return ask(20, catalog, schema, table);
  }

  @Override
  public ResultInterface getExportedKeys(String catalog, String schema, String table) {
    return ask(21, catalog, schema, table);
  }

  @Override
  public ResultInterface getCrossReference(
      String primaryCatalog,
      String primarySchema,
      String primaryTable,
      String foreignCatalog,
      String foreignSchema,
      String foreignTable) {
    return ask(
        22,
        primaryCatalog,
        primarySchema,
        primaryTable,
        foreignCatalog,
        foreignSchema,
        foreignTable);
  }

  @Override
  public ResultInterface getTypeInfo() {
    return ask(23);
  }

  @Override
  public ResultInterface getIndexInfo(
      String catalog, String schema, String table, boolean unique, boolean approximate) {
    return ask(24, catalog, schema, table, unique, approximate);
  }

  @Override
  public ResultInterface getUDTs(String catalog, String schema, String type, int[] types) {
    return ask(25, catalog, schema, type, types);
  }

  @Override
  public ResultInterface getSuperTypes(String catalog, String schema, String type) {
    return ask(26, catalog, schema, type);
  }

  @Override
  public ResultInterface getSuperTables(String catalog, String schema, String table) {
    return ask(27, catalog, schema, table);
  }

  @Override
  public ResultInterface getAttributes(
      String catalog, String schema, String type, String attribute) {
    return ask(28, catalog, schema, type, attribute);
  }

  @Override
  public int getDatabaseMajorVersion() {
    return Constants.VERSION_MAJOR;
  }

  @Override
  public int getDatabaseMinorVersion() {
    return Constants.VERSION_MINOR;
  }

  @Override
  public ResultInterface getSchemas(String catalog, String schema) {
    return ask(31, catalog, schema);
  }

  @Override
  public ResultInterface getFunctions(String catalog, String schema, String name) {
    return ask(32, catalog, schema, name);
  }

  @Override
  public ResultInterface getFunctionColumns(
      String catalog, String schema, String name, String column) {
    return ask(33, catalog, schema, name, column);
  }

  @Override
  public ResultInterface getPseudoColumns(
      String catalog, String schema, String table, String column) {
    return ask(34, catalog, schema, table, column);
  }
}
