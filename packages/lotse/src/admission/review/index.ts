export {
  answerReview,
  type ReviewAnswer,
  type ReviewCall,
  type ReviewOutcome,
  type ReviewParts,
} from "./review.ts";
