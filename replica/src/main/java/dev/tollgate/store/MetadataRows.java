package dev.tollgate.store;

import dev.tollgate.h2.CatalogRows;
import org.h2.engine.SessionLocal;
import org.h2.result.ResultInterface;
import org.h2.result.SimpleResult;
import org.h2.value.Value;
import org.h2.value.ValueBigint;

/**
 * What a user sees of the answers of {@code DatabaseMetaData}. H2 computes them without
 * INFORMATION_SCHEMA, and tells every user all rights and the numbers of rows in all indexes.
 */
final class MetadataRows {
  /** Numbers that H2 gives to methods. */
  private static final int COLUMN_PRIVILEGES = 15;

  private static final int TABLE_PRIVILEGES = 16;
  private static final int INDEX_INFO = 24;

  /** Columns of their answers. */
  private static final int SCHEMA = 1;

  private static final int TABLE = 2;
  private static final int GRANTEE_OF_TABLE = 4;
  private static final int GRANTEE_OF_COLUMN = 5;
  private static final int CARDINALITY = 10;

  private final CatalogRows catalog;

  private MetadataRows(SessionLocal session) {
    catalog = new CatalogRows(session);
  }

  /**
   * Returns what the user of the session may see of an answer.
   *
   * @param code the number of the method
   */
  static ResultInterface shown(int code, ResultInterface answer, SessionLocal session) {
    if (code != COLUMN_PRIVILEGES && code != TABLE_PRIVILEGES && code != INDEX_INFO) {
      return answer;
    }
    MetadataRows rows = new MetadataRows(session);
    SimpleResult shown = new SimpleResult();
    for (int i = 0; i < answer.getVisibleColumnCount(); i++) {
      shown.addColumn(answer.getAlias(i), answer.getColumnType(i));
    }
    while (answer.next()) {
      Value[] row = answer.currentRow();
      if (rows.shows(code, row)) {
        shown.addRow(row);
      }
    }
    return shown;
  }

  private boolean shows(int code, Value[] row) {
    String schema = row[SCHEMA].getString();
    if (code == INDEX_INFO) {
      if (!catalog.mayRead(schema, row[TABLE].getString())) {
        row[CARDINALITY] = ValueBigint.get(0);
      }
      return true;
    }
    int grantee = code == TABLE_PRIVILEGES ? GRANTEE_OF_TABLE : GRANTEE_OF_COLUMN;
    return catalog.showsRight(row[grantee].getString(), schema);
  }
}
