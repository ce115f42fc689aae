/* What stands between the parentheses of CREATE TABLE, and what ALTER TABLE does to a column. */

void TableElement(Definition definition) :
{}
{
    TableConstraint(definition)
|
    ColumnDefinition(definition)
}

void ColumnDefinition(Definition definition) :
{}
{
    SimpleIdentifier() ColumnTypeAndOptions(definition)
}

void ColumnTypeAndOptions(Definition definition) :
{ final SqlNode type; }
{
    // a column may have no type: in CREATE TABLE t (a, b) AS SELECT, and when it is generated
    [
        LOOKAHEAD({ isColumnTypeNext() })
        ( <INTERVAL> IntervalQualifier() | type = DataType() { definition.part(type); } )
    ]
    ( ColumnOption(definition) )*
}

void ColumnOption(Definition definition) :
{ SqlNode value; }
{
    <DEFAULT_> ( LOOKAHEAD(2) <ON> <NULL> | value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); } )
|
    <ON> <UPDATE> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
|
    [ <NOT> ] <NULL>
|
    <IDENTITY> [ IdentityOptions() ]
|
    <GENERATED>
    (
        <ALWAYS> <AS>
        (
            LOOKAHEAD(1) <IDENTITY> [ IdentityOptions() ]
        |
            value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
        )
    |
        <BY> <DEFAULT_> <AS> <IDENTITY> [ IdentityOptions() ]
    )
|
    <AS> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
|
    LOOKAHEAD({ isNext("COMMENT") }) Comment()
|
    LOOKAHEAD({ isNext("SELECTIVITY") }) <IDENTIFIER> <UNSIGNED_INTEGER_LITERAL>
|
    LOOKAHEAD({ isNext("AUTO_INCREMENT") || isNext("VISIBLE") || isNext("INVISIBLE") }) <IDENTIFIER>
|
    [ <CONSTRAINT> IfNotExists() CompoundIdentifier() ]
    (
        <PRIMARY> <KEY> [ LOOKAHEAD({ isNext("HASH") }) <IDENTIFIER> ]
    |
        <UNIQUE> NullsDistinct()
    |
        <CHECK> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
    |
        References(definition)
    )
}

void Comment() :
{}
{
    <IDENTIFIER> [ <IS> ] ( <NULL> | StringLiteral() )
}

void IdentityOptions() :
{}
{
    <LPAREN>
    ( SignedInteger() [ <COMMA> SignedInteger() ] | ( SequenceOption() )+ )
    <RPAREN>
}

void SequenceOption() :
{}
{
    <AS> DataType()
|
    <START> [ <WITH> ] SignedInteger()
|
    <RESTART> [ [ <WITH> ] SignedInteger() ]
|
    <INCREMENT> [ <BY> ] SignedInteger()
|
    ( <MINVALUE> | <MAXVALUE> ) SignedInteger()
|
    <CYCLE>
|
    <NO> ( <MINVALUE> | <MAXVALUE> | <CYCLE> | Word("CACHE") )
|
    LOOKAHEAD({ isNext("CACHE") }) <IDENTIFIER> SignedInteger()
|
    LOOKAHEAD({ isNext("NOCACHE") || isNext("NOCYCLE") || isNext("NOMINVALUE") || isNext("NOMAXVALUE") || isNext("EXHAUSTED") })
    <IDENTIFIER>
}

void SignedInteger() :
{}
{
    [ <PLUS> | <MINUS> ] <UNSIGNED_INTEGER_LITERAL>
|
    DynamicParam()
}

/** NULLS DISTINCT, NULLS NOT DISTINCT, NULLS ALL DISTINCT */
void NullsDistinct() :
{}
{
    // after UNIQUE in an expression, NULLS may also be the name of a column
    [ LOOKAHEAD({ isNullsDistinctNext() }) <NULLS> [ <NOT> | <ALL> ] <DISTINCT> ]
}

void TableConstraint(Definition definition) :
{ final SqlNode check; }
{
    [ <CONSTRAINT> IfNotExists() CompoundIdentifier() ]
    (
        <PRIMARY> <KEY> [ LOOKAHEAD({ isNext("HASH") }) <IDENTIFIER> ] IndexColumns() ConstraintIndex()
    |
        <UNIQUE> NullsDistinct() ( LOOKAHEAD(2) <LPAREN> <VALUE> <RPAREN> | IndexColumns() ) ConstraintIndex()
    |
        <CHECK> check = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(check); }
    |
        <FOREIGN> <KEY> IndexColumns() ConstraintIndex() References(definition)
    )
}

void ConstraintIndex() :
{}
{
    [ LOOKAHEAD({ isNext("INDEX") }) <IDENTIFIER> CompoundIdentifier() ]
}

void IndexColumns() :
{}
{
    <LPAREN> IndexColumn() ( <COMMA> IndexColumn() )* <RPAREN>
}

void IndexColumn() :
{}
{
    SimpleIdentifier() [ <ASC> | <DESC> ] [ <NULLS> ( <FIRST> | <LAST> ) ]
}

void References(Definition definition) :
{ final SqlIdentifier table; }
{
    // without a name, the foreign key refers to its own table
    <REFERENCES> [ LOOKAHEAD({ getToken(1).kind != LPAREN }) table = CompoundIdentifier() { definition.reads(table); } ]
    [ IndexColumns() ]
    ConstraintIndex()
    // ON UPDATE belongs to the reference, not to the column, as in H2
    (
        LOOKAHEAD(2)
        <ON> ( <DELETE> | <UPDATE> )
        ( <CASCADE> | <RESTRICT> | <NO> <ACTION> | <SET> ( <NULL> | <DEFAULT_> ) )
    )*
}

void AlterColumn(Definition definition) :
{
    final SqlNode type;
    final SqlNode value;
}
{
    LOOKAHEAD({ isNext("RENAME") }) <IDENTIFIER> <TO> SimpleIdentifier()
|
    LOOKAHEAD({ isNext("SELECTIVITY") }) <IDENTIFIER> <UNSIGNED_INTEGER_LITERAL>
|
    <DROP>
    (
        <DEFAULT_> [ <ON> <NULL> ]
    |
        LOOKAHEAD({ isNext("EXPRESSION") }) <IDENTIFIER>
    |
        <IDENTITY>
    |
        <ON> <UPDATE>
    |
        <NOT> <NULL>
    )
|
    <SET> AlterColumnSet(definition)
|
    LOOKAHEAD(1) <TYPE> type = DataType() { definition.part(type); } AlterColumnUsing(definition)
|
    LOOKAHEAD(1) SequenceOption() ( LOOKAHEAD(1) [ <SET> ] SequenceOption() )*
|
    ColumnTypeAndOptions(definition) AlterColumnUsing(definition)
}

void AlterColumnSet(Definition definition) :
{
    final SqlNode type;
    final SqlNode value;
}
{
    <GENERATED> ( <ALWAYS> | <BY> <DEFAULT_> ) ( SequenceOption() )*
|
    <DATA> <TYPE> type = DataType() { definition.part(type); } AlterColumnUsing(definition)
|
    [ <NOT> ] <NULL>
|
    <DEFAULT_> ( LOOKAHEAD(2) <ON> <NULL> | value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); } )
|
    <ON> <UPDATE> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
|
    LOOKAHEAD({ isNext("VISIBLE") || isNext("INVISIBLE") }) <IDENTIFIER>
|
    ( SequenceOption() )+
}

void AlterColumnUsing(Definition definition) :
{ final SqlNode value; }
{
    [ <USING> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); } ]
}
