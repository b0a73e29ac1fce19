// The part of the page that shows what the model looks at.
import { attention, Failed } from "./api.js";
import { Picture } from "./picture.js";
import { onLanguage, say } from "./words.js";

export class Looking {
  constructor(look, place) {
    this.look = look;
    this.picture = new Picture(place);
    onLanguage((language) => this.picture.speak(language));
  }

  hide() {
    this.look.hidden = true;
    this.drawing?.abort();
  }

  async draw(asked) {
    this.drawing?.abort();
    const drawing = (this.drawing = new AbortController());
    try {
      const drawn = await attention(asked, drawing.signal);
      if (this.drawing !== drawing) return;
      this.look.hidden = false; // first, as lines are laid out by the widths of what is seen
      this.picture.show(drawn);
    } catch (error) {
      if (error.name === "AbortError" || this.drawing !== drawing) return;
      this.look.hidden = false;
      this.picture.tell(error instanceof Failed ? [error.message, ...error.problems.map(({ problem }) => problem)].join(" ") : say("lost"));
    }
  }
}
