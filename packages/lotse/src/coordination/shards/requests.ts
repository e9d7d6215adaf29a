/** What a member asks the API server about seats. Decides nothing. */
import { type Client, Lease, openStream, type StreamState } from "@lotse/client";
import type { Clock } from "@lotse/client/meta";
import { type LeaseBody, type LeaseClaim, LeaseRequests, type Moment } from "../lease/index.ts";
import type { MemberInput, MemberTask } from "./member.ts";
import {
  emptiedSeat,
  OPERATOR_LABEL,
  readSeat,
  renewedSeat,
  type Seat,
  type SeatWriting,
  seatName,
  takenSeat,
} from "./seat.ts";

/** Who asks: what is the same in all Leases that a member writes. */
export interface SeatClaim extends Omit<LeaseClaim, "name" | "writer"> {
  readonly operator: string;
  /** What the names of all seats begin with. */
  readonly name: string;
  /** This run of this process. */
  readonly run: string;
  readonly rule: string;
}

/** A request about a seat. */
export type SeatTask = Exclude<MemberTask, { run: "let go" }>;

/** Who hears of all seats. */
export interface SeatListener {
  /** All of them at one moment. */
  seen(seats: readonly Seat[]): void;
  state(state: StreamState): void;
}

/** See the module comment. */
export class SeatRequests {
  readonly #client: Client;
  readonly #claim: SeatClaim;
  readonly #moment: () => Moment;

  constructor(client: Client, claim: SeatClaim, moment: () => Moment) {
    this.#client = client;
    this.#claim = claim;
    this.#moment = moment;
  }

  /** Does one task; rejects when there is no answer. */
  async perform(task: SeatTask, signal: AbortSignal): Promise<MemberInput> {
    const sentAt = this.#moment();
    switch (task.run) {
      case "take": {
        const body = takenSeat(task.before, this.#writing(task.seat, task.writer, task.said), sentAt.now);
        return this.#write(task.before ? "update" : "create", task.seat, body, sentAt, signal);
      }
      case "write": {
        const { seat } = task.before;
        const body = renewedSeat(task.before, this.#writing(seat, task.writer, task.said), sentAt.now);
        return this.#write("update", seat, body, sentAt, signal);
      }
      case "read": {
        const body = await this.#of(task.seat).read(signal);
        return { is: "read", seat: body && this.#seat(body) };
      }
      case "empty":
        return (await this.#empty(task.before, task.writer, sentAt, signal)) ? { is: "emptied" } : { is: "conflict" };
      case "expel":
        await this.#empty(task.before, this.#claim.run, sentAt, signal);
        return { is: "expelled", seat: task.before.seat };
    }
  }

  /** Tells of all seats whenever one has changed, until the signal aborts. */
  async follow(
    listener: SeatListener,
    how: { readonly clock: Clock; readonly random: () => number; readonly inactivityMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, operator } = this.#claim;
    let seats = new Map<string, Seat>();
    const tell = () => listener.seen([...seats.values()]);
    const put = (body: LeaseBody) => {
      const seat = this.#seat(body);
      if (seat) seats.set(body.metadata?.name ?? "", seat);
    };
    const sink = {
      replace: (bodies: LeaseBody[]) => {
        seats = new Map();
        for (const body of bodies) put(body);
        tell();
      },
      apply: (body: LeaseBody) => {
        put(body);
        tell();
      },
      remove: (body: LeaseBody) => {
        if (seats.delete(body.metadata?.name ?? "")) tell();
      },
      state: (state: StreamState) => listener.state(state),
    };
    const options = { namespace, labelSelector: { [OPERATOR_LABEL]: operator }, ...how };
    await openStream<LeaseBody>(this.#client, Lease.description, options, sink, signal);
  }

  async #write(
    verb: "create" | "update",
    number: number,
    body: LeaseBody,
    sentAt: Moment,
    signal: AbortSignal,
  ): Promise<MemberInput> {
    const written = await this.#of(number).write(verb, body, signal);
    const seat = written === "conflict" ? undefined : this.#seat(written.body);
    return seat ? { is: "written", seat, sentAt } : { is: "conflict" };
  }

  async #empty(before: Seat, writer: string, { now }: Moment, signal: AbortSignal): Promise<boolean> {
    const { said: _, ...writing } = this.#writing(before.seat, writer, { epoch: 0, view: [], joining: false });
    return (await this.#of(before.seat).write("update", emptiedSeat(before, writing, now), signal)) !== "conflict";
  }

  #of(seat: number): LeaseRequests {
    const { name, namespace } = this.#claim;
    return new LeaseRequests(this.#client, { name: seatName(name, seat), namespace });
  }

  /** Undefined: it is another Lease of the operator. */
  #seat(body: LeaseBody): Seat | undefined {
    const seat = readSeat(body, this.#claim);
    return seat && body.metadata?.name === seatName(this.#claim.name, seat.seat) ? seat : undefined;
  }

  #writing(seat: number, writer: string, said: SeatWriting["said"]): SeatWriting {
    const { operator, rule, name, ...claim } = this.#claim;
    return { operator, rule, claim: { ...claim, name: seatName(name, seat), writer }, seat, said };
  }
}
