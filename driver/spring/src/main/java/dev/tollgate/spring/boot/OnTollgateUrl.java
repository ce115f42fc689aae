package dev.tollgate.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * Whether the lock client has a URL of its own. An empty URL is none: it may be a placeholder's.
 */
final class OnTollgateUrl extends SpringBootCondition {
  private static final String SETTING = "tollgate.url";

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    boolean set = isSet(context.getEnvironment());
    return new ConditionOutcome(
        set,
        ConditionMessage.forCondition("Tollgate URL")
            .because(SETTING + (set ? " is set" : " is not set")));
  }

  static boolean isSet(Environment environment) {
    return StringUtils.hasText(environment.getProperty(SETTING));
  }
}
