/* CREATE, ALTER and DROP USER, SET PASSWORD, and the rights that H2 does not know. H2 sees none of these. */

Statement UserStatement() :
{ final Statement statement; }
{
    ( statement = CreateUser() | statement = AlterUser() | statement = DropUser() | statement = SetPassword() )
    { return statement; }
}

/** CREATE USER [IF NOT EXISTS] name [PASSWORD { 'password' | ? }] [ADMIN] [WORK LIMIT n] [VALID UNTIL 'timestamp'] */
Statement CreateUser() :
{
    final boolean lenient;
    final SqlIdentifier user;
    SqlNode password = null;
    SqlNode workLimit = null;
    SqlNode validUntil = null;
    boolean administrator = false;
}
{
    <CREATE> <USER> lenient = IfNotExists() user = SimpleIdentifier()
    [ LOOKAHEAD({ isNext("PASSWORD") }) <IDENTIFIER> password = TextOrParameter() ]
    [ <ADMIN> { administrator = true; } ]
    [ workLimit = WorkLimit() ]
    [ LOOKAHEAD({ isNext("VALID") }) validUntil = ValidUntil() ]
    {
        return new Statement.ConfigureUser(
            "CREATE", user, password, false, administrator, workLimit, validUntil, lenient);
    }
}

/**
 * ALTER USER name { SET PASSWORD { 'password' | ? } [END SESSIONS] | ADD PASSWORD { 'password' | ? } | DROP OLD PASSWORD
 * | ADMIN { TRUE | FALSE } | WORK LIMIT n | ACCOUNT { LOCK | UNLOCK } | VALID UNTIL 'timestamp' }
 */
Statement AlterUser() :
{
    final String verb;
    final SqlIdentifier user;
    SqlNode password = null;
    SqlNode workLimit = null;
    SqlNode validUntil = null;
    boolean endsSessions = false;
    boolean administrator = false;
}
{
    <ALTER> <USER> user = SimpleIdentifier()
    (
        <SET> Word("PASSWORD") password = TextOrParameter() endsSessions = EndSessions() { verb = "SET_PASSWORD"; }
    |
        <ADD> Word("PASSWORD") password = TextOrParameter() { verb = "ADD_PASSWORD"; }
    |
        <DROP> <OLD> Word("PASSWORD") { verb = "DROP_OLD_PASSWORD"; }
    |
        <ADMIN> ( <TRUE> { administrator = true; } | <FALSE> ) { verb = "SET_ADMINISTRATOR"; }
    |
        workLimit = WorkLimit() { verb = "SET_WORK_LIMIT"; }
    |
        LOOKAHEAD({ isNext("ACCOUNT") })
        Word("ACCOUNT")
        (
            LOOKAHEAD({ isNext("UNLOCK") }) Word("UNLOCK") { verb = "UNLOCK_ACCOUNT"; }
        |
            Word("LOCK") { verb = "LOCK_ACCOUNT"; }
        )
    |
        LOOKAHEAD({ isNext("VALID") }) validUntil = ValidUntil() { verb = "SET_VALIDITY"; }
    |
        Word("RENAME") <TO> SimpleIdentifier() { verb = "RENAME"; }
    )
    {
        return new Statement.ConfigureUser(
            verb, user, password, endsSessions, administrator, workLimit, validUntil, false);
    }
}

/** WORK LIMIT n */
SqlNode WorkLimit() :
{}
{
    <WORK> <LIMIT> <UNSIGNED_INTEGER_LITERAL>
    { return SqlLiteral.createExactNumeric(getToken(0).image, getPos()); }
}

/** VALID UNTIL 'timestamp' */
SqlNode ValidUntil() :
{}
{
    Word("VALID") Word("UNTIL") <QUOTED_STRING>
    { return SqlLiteral.createCharString(SqlParserUtil.parseString(getToken(0).image), getPos()); }
}

/** [END SESSIONS] */
boolean EndSessions() :
{}
{
    [ <END> Word("SESSIONS") { return true; } ]
    { return false; }
}

/** DROP USER [IF EXISTS] name */
Statement DropUser() :
{
    final boolean lenient;
    final SqlIdentifier user;
}
{
    <DROP> <USER> lenient = IfExists() user = SimpleIdentifier()
    { return new Statement.ConfigureUser("DROP", user, null, false, false, null, null, lenient); }
}

/** SET PASSWORD { 'password' | ? } [END SESSIONS] */
Statement SetPassword() :
{
    final SqlNode password;
    final boolean endsSessions;
}
{
    <SET> Word("PASSWORD") password = TextOrParameter() endsSessions = EndSessions()
    {
        return new Statement.ConfigureUser(
            "SET_PASSWORD", null, password, endsSessions, false, null, null, false);
    }
}

/**
 * GRANT or REVOKE of { { LOCK | FORCE } ON { 'pattern' | ? } | USAGE ON SEQUENCE name | AUDIT ON CLUSTER
 * | MANAGE ON LOCKS }, see isRightOfTollgateNext.
 */
Statement ConfigureRightStatement() :
{
    final boolean grant;
    final String right;
    SqlNode pattern = null;
    SqlIdentifier sequence = null;
    final SqlIdentifier grantee;
}
{
    ( <GRANT> { grant = true; } | <REVOKE> { grant = false; } )
    (
        <USAGE> <ON> <SEQUENCE> sequence = CompoundIdentifier() { right = "SEQUENCE"; }
    |
        LOOKAHEAD({ isNext("AUDIT") }) Word("AUDIT") <ON> Word("CLUSTER") { right = "AUDIT"; }
    |
        LOOKAHEAD({ isNext("MANAGE") }) Word("MANAGE") <ON> Word("LOCKS") { right = "MANAGE"; }
    |
        { right = isNext("LOCK") ? "LOCK" : "FORCE"; }
        <IDENTIFIER> <ON> pattern = TextOrParameter()
    )
    grantee = Grantee(grant)
    { return new Statement.ConfigureRight(grant, right, pattern, sequence, grantee); }
}

/** TO name after GRANT, FROM name after REVOKE. */
SqlIdentifier Grantee(boolean grant) :
{ final SqlIdentifier grantee; }
{
    (
        <TO> { if (!grant) { throw GrammarException.expected(getPos(), "TO", "FROM"); } }
    |
        <FROM> { if (grant) { throw GrammarException.expected(getPos(), "FROM", "TO"); } }
    )
    grantee = SimpleIdentifier()
    { return grantee; }
}

SqlNode TextOrParameter() :
{ final SqlNode value; }
{
    (
        <QUOTED_STRING> { value = SqlLiteral.createCharString(SqlParserUtil.parseString(getToken(0).image), getPos()); }
    |
        value = DynamicParam()
    )
    { return value; }
}
