/* DDL. A Definition gathers what a statement acts on, reads and evaluates. */

boolean IfNotExists() :
{}
{
    [ <IF> <NOT> <EXISTS> { return true; } ]
    { return false; }
}

boolean IfExists() :
{}
{
    [ <IF> <EXISTS> { return true; } ]
    { return false; }
}

void CascadeOrRestrict() :
{}
{
    [ <CASCADE> [ <CONSTRAINTS> ] | <RESTRICT> ]
}

/** The end of every definition: the clauses that bind the table or fence the statement. */
Statement DefinitionEnd(Definition definition) :
{ FenceClause fence; }
{
    ( fence = FenceClause() { definition.fenced(fence); } )*
    { return new Statement.Define(definition); }
}

Statement CreateStatement() :
{
    final Definition definition = new Definition();
    final Statement statement;
}
{
    <CREATE>
    (
        LOOKAHEAD({ isCreateViewNext() }) CreateView(definition)
    |
        LOOKAHEAD({ isNext("INDEX") || getToken(1).kind == UNIQUE || areNext("HASH", "INDEX") }) CreateIndex(definition)
    |
        CreateRole(definition)
    |
        CreateSequence(definition)
    |
        CreateSchema(definition)
    |
        CreateDomain(definition)
    |
        CreateTable(definition)
    )
    statement = DefinitionEnd(definition)
    { return statement; }
}

void CreateTable(Definition definition) :
{
    final SqlIdentifier table;
    final SqlNode query;
}
{
    [ LOOKAHEAD({ isNext("MEMORY") || isNext("CACHED") }) <IDENTIFIER> ]
    [ <GLOBAL> <TEMPORARY> | <LOCAL> <TEMPORARY> | <TEMPORARY> | Word("TEMP") ]
    <TABLE> IfNotExists() table = CompoundIdentifier() { definition.newTable(table); }
    TableComment()
    [ <LPAREN> [ TableElement(definition) ( <COMMA> TableElement(definition) )* ] <RPAREN> ]
    [ <ON> <COMMIT> ( <DELETE> <ROWS> | <DROP> ) ]
    [ <NOT> Word("PERSISTENT") ]
    [ LOOKAHEAD({ isNext("TRANSACTIONAL") }) <IDENTIFIER> ]
    [
        <AS> query = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY) { definition.part(query); }
        [ <WITH> [ <NO> ] <DATA> ]
    ]
}

void TableComment() :
{}
{
    [ LOOKAHEAD({ isNext("COMMENT") }) Comment() ]
}

void CreateView(Definition definition) :
{
    final SqlIdentifier view;
    final SqlNode query;
}
{
    [ <OR> <REPLACE> ] [ <IDENTIFIER> ]
    <VIEW> IfNotExists() view = CompoundIdentifier() { definition.target(ObjectClass.VIEW, view); }
    TableComment()
    [ ParenthesizedSimpleIdentifierList() ]
    <AS> query = OrderedQueryOrExpr(ExprContext.ACCEPT_QUERY) { definition.viewQuery(query); }
}

void CreateIndex(Definition definition) :
{
    final SqlIdentifier index;
    final SqlIdentifier table;
}
{
    [ <UNIQUE> NullsDistinct() ] [ LOOKAHEAD({ isNext("HASH") }) <IDENTIFIER> ]
    Word("INDEX") IfNotExists() [ index = CompoundIdentifier() { definition.target(ObjectClass.INDEX, index); } ]
    <ON> table = CompoundIdentifier() { definition.target(ObjectClass.TABLE, table); }
    [ <USING> ( LOOKAHEAD({ isNext("BTREE") || isNext("HASH") }) <IDENTIFIER> ) ]
    IndexColumns()
    [ <INCLUDE> IndexColumns() ]
}

void CreateRole(Definition definition) :
{ final SqlIdentifier role; }
{
    <ROLE> IfNotExists() role = SimpleIdentifier() { definition.targetPrincipal(role); }
}

void CreateSequence(Definition definition) :
{ final SqlIdentifier sequence; }
{
    <SEQUENCE> IfNotExists() sequence = CompoundIdentifier() { definition.target(ObjectClass.SEQUENCE, sequence); }
    ( SequenceOption() )*
}

void CreateSchema(Definition definition) :
{
    final SqlIdentifier schema;
    final SqlIdentifier owner;
}
{
    <SCHEMA> IfNotExists()
    (
        // the schema has the name of its owner
        <AUTHORIZATION> schema = SimpleIdentifier()
        { definition.target(ObjectClass.SCHEMA, schema); definition.principal(schema); }
    |
        schema = SimpleIdentifier() { definition.target(ObjectClass.SCHEMA, schema); }
        [ <AUTHORIZATION> owner = SimpleIdentifier() { definition.principal(owner); } ]
    )
}

void CreateDomain(Definition definition) :
{
    final SqlIdentifier domain;
    final SqlDataTypeSpec type;
    SqlNode value;
}
{
    ( <DOMAIN> | <TYPE> ) IfNotExists() domain = CompoundIdentifier() { definition.target(ObjectClass.DOMAIN, domain); }
    [ <AS> ] type = DataType() { definition.part(type); }
    (
        <DEFAULT_> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
    |
        <ON> <UPDATE> value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
    |
        LOOKAHEAD({ isNext("COMMENT") }) Comment()
    |
        [ <CONSTRAINT> CompoundIdentifier() ] DomainCheck(definition)
    )*
}

/** CHECK (VALUE > 0): VALUE is a keyword of H2 and of Calcite, and a name only here. */
void DomainCheck(Definition definition) :
{ final SqlNode check; }
{
    <CHECK> check = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(check); }
}

Statement DropStatement() :
{
    final Definition definition = new Definition();
    final ObjectClass kind;
    SqlIdentifier name;
    final Statement statement;
}
{
    <DROP>
    (
        <ROLE> IfExists() name = SimpleIdentifier() { definition.targetPrincipal(name); }
    |
        kind = DroppedKind()
        IfExists() name = CompoundIdentifier() { definition.target(kind, name); }
        ( <COMMA> name = CompoundIdentifier() { definition.target(kind, name); } )*
        IfExists()
        CascadeOrRestrict()
    )
    statement = DefinitionEnd(definition)
    { return statement; }
}

ObjectClass DroppedKind() :
{}
{
    <TABLE> { return ObjectClass.TABLE; }
|   <VIEW> { return ObjectClass.VIEW; }
|   <SEQUENCE> { return ObjectClass.SEQUENCE; }
|   <SCHEMA> { return ObjectClass.SCHEMA; }
|   ( <DOMAIN> | <TYPE> ) { return ObjectClass.DOMAIN; }
|   <IDENTIFIER> { return WordChoice.indexOrConstant(getToken(0).image, getPos()); }
}

/** GRANT and REVOKE of rights on tables and schemas, and of roles. */
Statement RightsStatement() :
{
    final Definition definition = new Definition();
    final SqlIdentifier role;
    final SqlIdentifier grantee;
    final Statement statement;
    final boolean grant;
}
{
    ( <GRANT> { grant = true; } | <REVOKE> { grant = false; } )
    (
        LOOKAHEAD(1) RightName() ( <COMMA> RightName() )*
        [ <ON> RightsObject(definition) ]
    |
        role = SimpleIdentifier() { definition.principal(role); }
        [
            // H2 cannot grant a second role, and leaves a REVOKE partly done when it cannot revoke a role
            <COMMA>
            { throw new GrammarException(getPos(), "roles, LOCK, FORCE, USAGE, AUDIT and MANAGE are granted and revoked one at a time"); }
        ]
    )
    grantee = Grantee(grant) { definition.targetPrincipal(grantee); }
    statement = DefinitionEnd(definition)
    { return statement; }
}

void RightName() :
{}
{
    <SELECT> | <INSERT> | <UPDATE> | <DELETE>
|
    <ALL> [ <PRIVILEGES> ]
}

void RightsObject(Definition definition) :
{ SqlIdentifier name; }
{
    LOOKAHEAD(1)
    <SCHEMA> name = SimpleIdentifier() { definition.rightsOnSchema(name); }
|
    [ <TABLE> ] name = CompoundIdentifier() { definition.rightsOnTable(name); }
    ( <COMMA> name = CompoundIdentifier() { definition.rightsOnTable(name); } )*
}

Statement TruncateStatement() :
{
    final Definition definition = new Definition();
    final SqlIdentifier table;
    final Statement statement;
}
{
    <TRUNCATE> <TABLE> table = CompoundIdentifier() { definition.target(ObjectClass.TABLE, table); }
    [ ( <RESTART> | <CONTINUE> ) <IDENTITY> ]
    statement = DefinitionEnd(definition)
    { return statement; }
}

Statement CommentStatement() :
{
    final Definition definition = new Definition();
    final ObjectClass kind;
    final SqlIdentifier name;
    final Statement statement;
}
{
    Word("COMMENT") <ON>
    (
        <COLUMN> name = CompoundIdentifier() { definition.columnOf(name); }
    |
        <CONSTRAINT> name = CompoundIdentifier() { definition.target(ObjectClass.CONSTRAINT, name); }
    |
        kind = DroppedKind() name = CompoundIdentifier() { definition.target(kind, name); }
    )
    <IS> ( <NULL> | StringLiteral() )
    statement = DefinitionEnd(definition)
    { return statement; }
}

Statement AlterStatement() :
{
    final Definition definition = new Definition();
    final Statement statement;
}
{
    <ALTER>
    (
        AlterTable(definition)
    |
        AlterSequence(definition)
    |
        AlterDomain(definition)
    |
        AlterRenamed(definition)
    )
    statement = DefinitionEnd(definition)
    { return statement; }
}

void AlterSequence(Definition definition) :
{ final SqlIdentifier sequence; }
{
    <SEQUENCE> IfExists() sequence = CompoundIdentifier() { definition.target(ObjectClass.SEQUENCE, sequence); }
    ( SequenceOption() )+
}

/** The objects of which only the name can be altered; a view can also be recompiled. */
void AlterRenamed(Definition definition) :
{
    SqlIdentifier name;
}
{
    <SCHEMA> IfExists() name = SimpleIdentifier() { definition.target(ObjectClass.SCHEMA, name); }
    Word("RENAME") <TO> name = SimpleIdentifier() { definition.target(ObjectClass.SCHEMA, name); }
|
    <VIEW> IfExists() name = CompoundIdentifier() { definition.target(ObjectClass.VIEW, name); }
    ( LOOKAHEAD({ isNext("RECOMPILE") }) <IDENTIFIER> | Word("RENAME") <TO> SimpleIdentifier() )
|
    Word("INDEX") IfExists() name = CompoundIdentifier() { definition.target(ObjectClass.INDEX, name); }
    Word("RENAME") <TO> SimpleIdentifier()
}

void AlterDomain(Definition definition) :
{
    final SqlIdentifier domain;
    final SqlNode value;
}
{
    <DOMAIN> IfExists() domain = CompoundIdentifier() { definition.target(ObjectClass.DOMAIN, domain); }
    (
        <SET> ( <DEFAULT_> | <ON> <UPDATE> ) value = Expression(ExprContext.ACCEPT_SUB_QUERY) { definition.part(value); }
    |
        <DROP> ( <DEFAULT_> | <ON> <UPDATE> | <CONSTRAINT> IfExists() SimpleIdentifier() )
    |
        <ADD> [ <CONSTRAINT> IfNotExists() CompoundIdentifier() ] DomainCheck(definition)
        [ <CHECK> | LOOKAHEAD({ isNext("NOCHECK") }) <IDENTIFIER> ]
    |
        Word("RENAME") [ <CONSTRAINT> SimpleIdentifier() ] <TO> SimpleIdentifier()
    )
}

void AlterTable(Definition definition) :
{
    final boolean ifExists;
    final SqlIdentifier table;
    final FenceClause fence;
}
{
    <TABLE> ifExists = IfExists() table = CompoundIdentifier() { definition.target(ObjectClass.TABLE, table); }
    (
        <ADD> AlterTableAdd(definition)
    |
        <DROP> AlterTableDrop()
    |
        <ALTER> [ <COLUMN> ] IfExists() SimpleIdentifier() AlterColumn(definition)
    |
        <SET> Word("REFERENTIAL_INTEGRITY") ( <TRUE> | <FALSE> ) [ <CHECK> | LOOKAHEAD({ isNext("NOCHECK") }) <IDENTIFIER> ]
    |
        fence = FenceClause() { definition.binds(fence, ifExists); }
    |
        <NOT> <FENCED> { definition.unbinds(getPos(), ifExists); }
    |
        Word("RENAME")
        (
            <TO> SimpleIdentifier()
        |
            ( <CONSTRAINT> | <COLUMN> ) SimpleIdentifier() <TO> SimpleIdentifier()
        )
    )
}

void AlterTableAdd(Definition definition) :
{}
{
    TableConstraint(definition) [ <CHECK> | LOOKAHEAD({ isNext("NOCHECK") }) <IDENTIFIER> ]
|
    [ <COLUMN> ] IfNotExists()
    (
        <LPAREN> TableElement(definition) ( <COMMA> TableElement(definition) )* <RPAREN>
    |
        ColumnDefinition(definition) AlterColumnUsing(definition)
    )
    [ <FIRST> | ( <BEFORE> | <AFTER> ) SimpleIdentifier() ]
}

void AlterTableDrop() :
{}
{
    <CONSTRAINT> IfExists() CompoundIdentifier() CascadeOrRestrict()
|
    <PRIMARY> <KEY>
|
    [ <COLUMN> ] IfExists()
    (
        ParenthesizedSimpleIdentifierList()
    |
        SimpleIdentifier() ( <COMMA> SimpleIdentifier() )*
    )
}
