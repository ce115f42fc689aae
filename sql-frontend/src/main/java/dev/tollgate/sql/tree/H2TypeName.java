package dev.tollgate.sql.tree;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlTypeNameSpec;
import org.apache.calcite.sql.SqlWriter;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.validate.SqlValidator;
import org.apache.calcite.util.Litmus;

/** A data type by its first word; only H2 needs its length and other details. */
public final class H2TypeName extends SqlTypeNameSpec {

  public H2TypeName(String name, SqlParserPos position) {
    super(new SqlIdentifier(name, position), position);
  }

  @Override
  public RelDataType deriveType(SqlValidator validator) {
    throw new UnsupportedOperationException("types are not derived: H2 does that");
  }

  @Override
  public void unparse(SqlWriter writer, int leftPrecedence, int rightPrecedence) {
    throw new UnsupportedOperationException("rebuilt from tokens, not from the tree");
  }

  @Override
  public boolean equalsDeep(SqlTypeNameSpec other, Litmus litmus) {
    return other instanceof H2TypeName && other.getTypeName().equalsDeep(getTypeName(), litmus);
  }
}
