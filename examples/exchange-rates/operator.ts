/**
 * Publishes exchange rates: for each ExchangeRate a ConfigMap with the rate of its currency, which follows when the
 * currency changes, is refreshed every hour, and goes with its ExchangeRate.
 */
import { type ChangeContext, Operator, PermanentError, resource, type TimerContext } from "lotse";
import { ConfigMap } from "lotse/client";
import * as z from "zod";
import { RateSource, UnknownCurrencyError } from "./rates.ts";

export const ExchangeRate = resource({
  group: "rates.example.com",
  version: "v1",
  kind: "ExchangeRate",
  spec: z.object({ currency: z.string().regex(/^[A-Z]{3}$/) }),
  status: z.object({
    rate: z.number().optional(),
    configMap: z.string().optional(),
    message: z.string().optional(),
  }),
  shortNames: ["xr"],
  columns: [
    { name: "Currency", type: "string", path: ".spec.currency" },
    { name: "Rate", type: "number", path: ".status.rate" },
  ],
});

/** Where the rates come from: RATES_URL, else a small service that the operator starts for itself. */
export const rates = new RateSource();

const operator = new Operator({ name: "exchange-rates", crds: "install" });

operator.on.startup(async function openRates({ logger }) {
  logger.info("rates come from", { url: await rates.open(process.env.RATES_URL) });
});

operator.on.create(ExchangeRate, async function publishRate(context) {
  await publish(context);
});

operator.on.update(ExchangeRate, async function followCurrency(context) {
  await publish(context);
});

operator.timer(ExchangeRate, { interval: "1h" }, async function refreshRate(context) {
  try {
    await publish(context);
  } catch (error) {
    // A permanent error would end the timer; but the currency may be corrected, and then its rate is to be refreshed.
    if (!(error instanceof PermanentError)) throw error;
  }
});

operator.on.cleanup(async function closeRates() {
  await rates.close();
});

export default operator;

type Context =
  | ChangeContext<InstanceType<typeof ExchangeRate>["body"]>
  | TimerContext<InstanceType<typeof ExchangeRate>["body"]>;

/**
 * Makes the world as it should be, wherever it stands: may be called at any time, and writes only what differs.
 * There is no handler for the deletion: the ConfigMap belongs to the ExchangeRate, and Kubernetes takes it along.
 */
async function publish({ spec, status, name, uid, adopt, client, patch, logger, signal }: Context): Promise<void> {
  const { currency } = spec;
  const rate = await rateOf(currency, signal, patch);
  const data = { currency, rate: String(rate) };
  const label = { "rates.example.com/exchange-rate": uid };

  // The name is generated, so it cannot tell whether there is a ConfigMap already; the label can. Without this look, an
  // attempt that ended between creating it and writing its name down would be followed by one that makes a second.
  let configMap = await client.list(ConfigMap, { labelSelector: label }).first();
  if (!configMap) {
    configMap = await client.create(adopt(ConfigMap.gen({ generateName: `${name}-`, labels: label, data })));
    logger.info("rate published", { currency, rate, configMap: configMap.name });
  } else if (configMap.data.rate !== data.rate || configMap.data.currency !== currency) {
    await configMap.patch({ data });
    logger.info("rate changed", { currency, rate, configMap: configMap.name });
  }

  if (status.rate !== rate) patch.status.rate = rate;
  if (status.configMap !== configMap.name) patch.status.configMap = configMap.name;
  if (status.message !== undefined) patch.status.message = null;
}

/** The rate; what nobody has ever heard of is written down for whoever asked for it, and not asked for again. */
async function rateOf(currency: string, signal: AbortSignal, patch: Context["patch"]): Promise<number> {
  try {
    return await rates.rateOf(currency, signal);
  } catch (error) {
    if (!(error instanceof UnknownCurrencyError)) throw error;
    patch.status.rate = null;
    patch.status.message = error.message;
    throw new PermanentError(error.message, { cause: error });
  }
}
