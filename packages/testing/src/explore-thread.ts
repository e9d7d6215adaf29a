/**
 * The threads of `explore` begin here; nobody else imports it.
 *
 * @packageDocumentation
 */
import { serveThread } from "./explore/index.ts";

serveThread();
