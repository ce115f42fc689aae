package dev.tollgate.spring.boot;

import org.springframework.boot.autoconfigure.condition.ConditionMessage;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.boot.autoconfigure.condition.SpringBootCondition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether the properties say that the data source of the application is one of Tollgate. */
final class OnTollgateDataSource extends SpringBootCondition {
  private static final String SETTING = "tollgate.from-data-source";

  @Override
  public ConditionOutcome getMatchOutcome(
      ConditionContext context, AnnotatedTypeMetadata metadata) {
    Environment environment = context.getEnvironment();
    ConditionMessage.Builder message = ConditionMessage.forCondition("Tollgate data source");
    if (OnTollgateUrl.isSet(environment)) {
      return ConditionOutcome.noMatch(message.because("tollgate.url is set"));
    }
    Boolean setting = environment.getProperty(SETTING, Boolean.class);
    if (setting != null) {
      return new ConditionOutcome(setting, message.because(SETTING + " is " + setting));
    }
    String url = environment.getProperty(DriverClassSource.URL, "");
    return new ConditionOutcome(
        url.startsWith(DriverClassSource.URL_PREFIX) || url.startsWith("jdbc:tc:tollgate:"),
        message.because(DriverClassSource.URL + " decides: set " + SETTING + " if it is not used"));
  }
}
