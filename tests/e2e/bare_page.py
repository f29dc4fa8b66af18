"""A page of Streamlit's own widgets and nothing of ours: what axe finds here, no page of ours can
help.
"""

import plotly.graph_objects as go
import streamlit as st

st.set_page_config(page_title="Bare", layout="wide")


def home() -> None:
    """One of each of the widgets that the pages use."""
    st.title("A bare page", anchor=False)
    left, right = st.columns([1, 3])
    with left:
        st.text_input("Text", "1", help="What it is")
        st.selectbox("Choice", ["one", "two"])
        st.segmented_control("Segments", ["one", "two"], default="one", help="What it is")
        st.pills("Pills", ["one", "two"], selection_mode="multi", default=["one"])
        st.multiselect("Several", ["one", "two"], default=["one"])
        st.toggle("Switch")
        st.checkbox("Box")
        st.button("Start", type="primary")
        st.button("Reset", type="tertiary", icon=":material/replay:", help="What it is")
        st.popover("More").write("Words")
    with right:
        st.caption("Caption with a [link](https://arxiv.org/abs/1607.00133)")
        st.header("Part", anchor=False)
        st.markdown("**Words** with `code` and a [link](https://arxiv.org/abs/1607.00133).")
        st.plotly_chart(
            go.Figure(go.Scatter(x=[1, 2], y=[1, 2])),
            alt="A line.",
            config={"displayModeBar": False},
        )
        st.metric("Number", "1")
        st.info("Said")
        st.warning("Warned")
        st.error("Failed")
        st.code("code")
        for each in ("Some numbers", "More numbers"):
            with st.expander(each):
                st.dataframe({each: [1, 2]})
        st.download_button("Download", "text")
        st.file_uploader("File")
        st.number_input("Number", 1, 9)


def other() -> None:
    """A second entry of the menu."""
    st.title("Another page", anchor=False)


st.navigation([st.Page(home, default=True), st.Page(other)], position="top").run()
