    // What Tollgate's productions ask about the tokens ahead. Spliced into the class by patch-template.xml. A
    // production with JAVACODE would not do: it may throw, and JavaCC also asks where nothing may be thrown.

    /** Whether the next token is this word, unquoted. For words of H2 that are not tokens of the grammar. */
    private boolean isNext(String word) {
        return getToken(1).image.equalsIgnoreCase(word);
    }

    private boolean areNext(String first, String second) {
        return isNext(first) && getToken(2).image.equalsIgnoreCase(second);
    }

    /** Whether CREATE, ALTER or DROP USER, or SET PASSWORD follows. */
    private boolean isUserStatementNext() {
        return areNext("SET", "PASSWORD")
            || areNext("CREATE", "USER") || areNext("ALTER", "USER") || areNext("DROP", "USER");
    }

    /** Whether GRANT or REVOKE of LOCK, FORCE, USAGE, AUDIT or MANAGE follows. Without ON, the word names a role. */
    private boolean isRightOfTollgateNext() {
        String right = getToken(2).image;
        return (isNext("GRANT") || isNext("REVOKE")) && getToken(3).kind == ON
            && (right.equalsIgnoreCase("LOCK") || right.equalsIgnoreCase("FORCE") || right.equalsIgnoreCase("USAGE")
                || right.equalsIgnoreCase("AUDIT") || right.equalsIgnoreCase("MANAGE"));
    }

    private boolean isModeNext() {
        return isNext("MODE") && getToken(1).kind == IDENTIFIER && getToken(2).kind == LPAREN;
    }

    /** VARCHAR(MAX), NVARCHAR(MAX) or VARBINARY(MAX): the type without a length. */
    private boolean isTypeOfAnyLengthNext() {
        return (getToken(1).kind == VARCHAR || getToken(1).kind == VARBINARY || isNext("NVARCHAR"))
            && getToken(2).kind == LPAREN && getToken(3).kind == MAX;
    }

    private boolean isTimestampOfTwoNumbersNext() {
        return getToken(1).kind == TIMESTAMP && getToken(2).kind == LPAREN && getToken(4).kind == COMMA;
    }

    private boolean areKindsNext(int first, int second) {
        return getToken(1).kind == first && getToken(2).kind == second;
    }

    /** Whether IS [NOT] JSON follows. */
    private boolean isJsonPredicateNext() {
        return getToken(1).kind == IS && getToken(getToken(2).kind == NOT ? 3 : 2).kind == JSON;
    }

    /** Whether FROM FIRST OVER or the like follows: not the FROM of a query, whose table has no such alias. */
    private boolean isFromFirstOrLastNext() {
        if (!areKindsNext(FROM, FIRST) && !areKindsNext(FROM, LAST)) {
            return false;
        }
        int third = getToken(3).kind;
        return third == OVER || (third == RESPECT || third == IGNORE) && getToken(4).kind == NULLS;
    }

    /** Whether IS [NOT] DISTINCT FROM ALL | ANY | SOME ( follows. */
    private boolean isDistinctFromAllNext() {
        int index = getToken(2).kind == NOT ? 3 : 2;
        return getToken(1).kind == IS && getToken(index).kind == DISTINCT && isQuantifierNext(index + 2);
    }

    /** Whether ALL ( or the like stands at {@code index}. */
    private boolean isQuantifierNext(int index) {
        int kind = getToken(index).kind;
        return (kind == ALL || kind == ANY || kind == SOME) && getToken(index + 1).kind == LPAREN;
    }

    /** Whether a predicate without its left side follows: CASE a WHEN IN (1, 2), WHEN < 3, WHEN IS NULL. */
    private boolean isCasePredicateNext() {
        int next = getToken(1).kind;
        int second = getToken(2).kind;
        return next == IN || next == BETWEEN || next == IS || next == EQ || next == NE || next == NE2
            || next == LT || next == LE || next == GT || next == GE
            || next == NOT && (second == IN || second == BETWEEN);
    }

    /** Whether a table in parentheses follows that is neither a query nor a join: (t), (s.t AS a), (UNNEST(...)). */
    private boolean isTableInParenthesesNext() {
        if (getToken(1).kind != LPAREN) {
            return false;
        }
        int second = getToken(2).kind;
        if (second == UNNEST || second == TABLE && getToken(3).kind == LPAREN) {
            return getToken(indexOfClosing(3) + 1).kind == RPAREN || getToken(indexOfClosing(3) + 1).kind == WITH;
        }
        int index = 2;
        while (isName(getToken(index)) && getToken(index + 1).kind == DOT) {
            index += 2;
        }
        if (!isName(getToken(index))) {
            return false;
        }
        index += getToken(index + 1).kind == AS ? 2 : 1;
        return getToken(index).kind == RPAREN || isName(getToken(index)) && getToken(index + 1).kind == RPAREN;
    }

    private static boolean isName(Token token) {
        switch (token.kind) {
            case EOF:
            case SELECT:
            case VALUES:
            case TABLE:
            case WITH:
                return false;
            default:
                return token.kind == QUOTED_IDENTIFIER || Character.isLetter(token.image.charAt(0)) || token.image.charAt(0) == '_';
        }
    }

    /** The index of the parenthesis that closes the one at {@code opening}, or of the end. */
    private int indexOfClosing(int opening) {
        int depth = 0;
        for (int i = opening; ; i++) {
            int kind = getToken(i).kind;
            depth += kind == LPAREN ? 1 : kind == RPAREN ? -1 : 0;
            if (depth == 0 || kind == EOF) {
                return i;
            }
        }
    }

    /** Whether a row without fields follows: () or ROW(). */
    private boolean isEmptyTupleNext() {
        return areKindsNext(LPAREN, RPAREN)
            || areKindsNext(ROW, LPAREN) && getToken(3).kind == RPAREN;
    }

    /** Whether the list of a SELECT is empty, as H2 sees it. */
    private boolean isSelectListEmpty() {
        switch (getToken(1).kind) {
            case EOF:
            case FROM:
            case WHERE:
            case GROUP:
            case HAVING:
            case WINDOW:
            case QUALIFY:
            case ORDER:
            case OFFSET:
            case FETCH:
            case RPAREN:
                return true;
            default:
                return false;
        }
    }

    /** Whether an IN follows whose list is empty. */
    private boolean isEmptyListNext() {
        return areKindsNext(LPAREN, RPAREN);
    }

    /** Whether VALUES () follows. */
    private boolean isEmptyRowNext() {
        return getToken(1).kind == VALUES && getToken(2).kind == LPAREN && getToken(3).kind == RPAREN;
    }

    /** Whether NULL ON NULL follows, and not the value NULL. */
    private boolean isNullClauseNext() {
        return getToken(1).kind == NULL && getToken(2).kind == ON;
    }

    /** Whether NULLS [NOT | ALL] DISTINCT follows. */
    private boolean isNullsDistinctNext() {
        int second = getToken(2).kind;
        return getToken(1).kind == NULLS && (second == NOT || second == ALL || second == DISTINCT);
    }

    /** Whether [OR REPLACE] [FORCE] VIEW follows. */
    private boolean isCreateViewNext() {
        int index = getToken(1).kind == OR && getToken(2).kind == REPLACE ? 3 : 1;
        return getToken(index).kind == VIEW
            || getToken(index).image.equalsIgnoreCase("FORCE") && getToken(index + 1).kind == VIEW;
    }

    /** Whether IS [NOT] OF follows. */
    private boolean isTypePredicateNext() {
        return getToken(1).kind == IS && getToken(getToken(2).kind == NOT ? 3 : 2).kind == OF;
    }

    /** Whether TABLE(name type = ...) follows, and not TABLE(function(...)). */
    private boolean isColumnTableNext() {
        return getToken(1).kind == TABLE && getToken(2).kind == LPAREN
            && getToken(4).kind != LPAREN && getToken(4).kind != DOT;
    }

    /** Whether a type follows the name of a column, not an option or the end of the definition. */
    private boolean isColumnTypeNext() {
        switch (getToken(1).kind) {
            case EOF:
            case COMMA:
            case RPAREN:
            case FENCED:
            case AS:
            case CHECK:
            case CONSTRAINT:
            case DEFAULT_:
            case GENERATED:
            case IDENTITY:
            case NOT:
            case NULL:
            case ON:
            case PRIMARY:
            case REFERENCES:
            case UNIQUE:
                return false;
            default:
                return !isNext("AUTO_INCREMENT") && !isNext("COMMENT") && !isNext("INVISIBLE") && !isNext("VISIBLE");
        }
    }
