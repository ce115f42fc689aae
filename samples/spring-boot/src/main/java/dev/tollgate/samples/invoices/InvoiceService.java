package dev.tollgate.samples.invoices;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.scheduling.annotation.EnableScheduling;

/** An instance of the service. It ends when all invoices are sent. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableScheduling
public class InvoiceService {
  public static void main(String[] arguments) throws InterruptedException {
    try (ConfigurableApplicationContext service =
        SpringApplication.run(InvoiceService.class, arguments)) {
      service.getBean(InvoiceJob.class).awaitEnd();
    }
  }
}
